// Package listed has one directive to list.
package listed

import "life"

func allows() {
	_ = life.Time{} //hecate:allow nozero the zero time is refused // want `allowed: nozero: the zero time is refused`
}
