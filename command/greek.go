package command

import "strings"

// greek maps the letters that names on pages may have to their spellings in ASCII,
// which are the names of settings in code.
var greek = strings.NewReplacer(
	"α", "alpha", "β", "beta", "γ", "gamma", "δ", "delta", "ε", "epsilon", "ϵ", "epsilon", "ζ", "zeta", "η", "eta",
	"θ", "theta", "ι", "iota", "κ", "kappa", "λ", "lambda", "μ", "mu", "µ", "mu", "ν", "nu", "ξ", "xi", "π", "pi",
	"ρ", "rho", "σ", "sigma", "τ", "tau", "υ", "upsilon", "φ", "phi", "ϕ", "phi", "χ", "chi", "ψ", "psi", "ω", "omega",
	"Γ", "Gamma", "Δ", "Delta", "Θ", "Theta", "Λ", "Lambda", "Ξ", "Xi", "Φ", "Phi", "Ψ", "Psi", "Ω", "Omega", "ℓ", "ell",
	"₀", "0", "₁", "1", "₂", "2", "₃", "3", "₄", "4", "₅", "5", "₆", "6", "₇", "7", "₈", "8", "₉", "9",
)

// inASCII spells a name as code does: β_1 and β₁ are beta_1.
func inASCII(name string) string {
	if i := strings.IndexFunc(name, func(r rune) bool { return r >= '₀' && r <= '₉' }); i > 0 && name[i-1] != '_' {
		name = name[:i] + "_" + name[i:]
	}
	return greek.Replace(name)
}
