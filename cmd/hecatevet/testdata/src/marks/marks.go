// Package marks has directives that are wrong.
package marks

import "life"

//hecate:consumonce // want `there is no directive //hecate:consumonce; there are allow, advances, borrows`
type typo struct{}

//hecate:takes // want `//hecate:takes does not belong here: it belongs on a function`
type notAFunction struct{}

//hecate:nozero // want `//hecate:nozero does not belong here: it belongs on a type`
func notAType() {}

type fields struct {
	//hecate:readonly
	rightly []int
	//hecate:clock // want `//hecate:clock does not belong here: it belongs on a type`
	wrongly int
}

func loose() {
	//hecate:noescape // want `//hecate:noescape does not belong here: it belongs in the doc of a type`
	_ = life.Dawn()
}

func allows() {
	// want +1 `//hecate:allow needs an analyzer and a reason`
	//hecate:allow nozero
	_ = life.Time{}
	_ = life.Time{} //hecate:allow nozero the zero time is refused: that is the test
	_ = life.Dawn() //hecate:allow nozero nothing is wrong here // want `nozero reports nothing here: remove the directive`
	_ = life.Dawn() //hecate:allow zeros of a name that is none // want `there is no analyzer zeros to allow; there are consumeonce, noescape`
}

// inAll is allowed in all of its lines.
//
//hecate:allow nozero the zero time is refused: that is the test
func inAll() {
	_ = life.Time{}

	_ = new(life.Time)
}

// unreasonable gives no reason.
//
// want +2 `//hecate:allow needs an analyzer and a reason`
//
//hecate:allow nozero
func unreasonable() {}
