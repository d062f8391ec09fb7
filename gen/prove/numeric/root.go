package numeric

import "math"

// RayGrid are the points of a ray from the origin between which signs are compared: two in
// each decade from 1e-12 to 1e4.
func RayGrid() []float64 {
	var grid []float64
	for k := range 33 {
		grid = append(grid, math.Pow(10, float64(k)/2-12))
	}
	return grid
}

// SignChange returns a point where an entry of f changes its sign, which is found between two
// points of a grid and then by bisection.
func SignChange(f func(s float64) []float64, grid []float64) (at float64, ok bool) {
	last := f(grid[0])
	for k := 1; k < len(grid); k++ {
		now := f(grid[k])
		for i := range now {
			if last[i]*now[i] < 0 {
				return Bisect(func(s float64) float64 { return f(s)[i] }, grid[k-1], grid[k], last[i]), true
			}
		}
		last = now
	}
	return 0, false
}

// Bisect finds a root of f by bisection in a bracket, at whose lower end f is atLo.
func Bisect(f func(s float64) float64, lo, hi, atLo float64) float64 {
	for range 80 {
		mid := lo + (hi-lo)/2
		if f(mid)*atLo > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}
