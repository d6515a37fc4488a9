package console

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// limits says how many minutes before departure a bag that is not loaded is at risk, and how many
// minutes before departure it is late. Each user sets them; a cookie keeps them.
type limits struct{ Risk, Late int }

const (
	usualRisk, usualLate = 45, 20  // the limits of users who have set none
	maxRisk              = 24 * 60 // the largest limit
)

// riskCookie holds the limits, as 45-20.
const riskCookie = "bagtrail-risk"

// readLimits reads two numbers of minutes. A number that is missing or malformed has its usual
// value. Late is at most Risk.
func readLimits(risk, late string) limits {
	number := func(text string, usual int) int {
		n, _ := strconv.Atoi(text) // 0 if it is not a number
		return min(max(cmp.Or(n, usual), 1), maxRisk)
	}
	l := limits{number(risk, usualRisk), number(late, usualLate)}
	l.Late = min(l.Late, l.Risk)
	return l
}

// limitsOf returns the limits of the user who sends a request.
func limitsOf(r *http.Request) limits {
	if kept, err := r.Cookie(riskCookie); err == nil {
		risk, late, _ := strings.Cut(kept.Value, "-")
		return readLimits(risk, late)
	}
	return readLimits("", "")
}

// setLimits sets the cookie with the limits of the form, and redirects back.
func setLimits(w http.ResponseWriter, r *http.Request) {
	l := readLimits(r.PostFormValue("risk"), r.PostFormValue("late"))
	http.SetCookie(w, &http.Cookie{
		Name: riskCookie, Value: fmt.Sprintf("%d-%d", l.Risk, l.Late), Path: Path, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: 365 * 86400,
	})
	http.Redirect(w, r, back(r.PostFormValue("next")), http.StatusSeeOther)
}
