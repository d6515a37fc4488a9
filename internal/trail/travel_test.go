package trail_test

import "testing"

// A leg follows the leg that arrives where it departs, over up to eight legs. The latest message,
// which names the last leg, decides nothing.
func TestLegsOfADayStandInTheOrderOfTravel(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", source("LZRH", "", ".F/LX1/12MAR/GVA", ".O/LX2/12MAR/LHR", ".O/LX3/12MAR/BOS", ".O/LX4/12MAR/JFK", ".O/LX5/12MAR/LAX",
		".O/LX6/12MAR/SFO", ".O/LX7/12MAR/SEA", ".O/LX8/12MAR/YVR", ".O/LX9/12MAR/YYC")...)
	w.send("12T07:00", processed("LYVR", ".J/S", ".F/LX9/12MAR/YYC")...)
	w.send("12T07:01", processed("LSEA", ".J/S", ".F/LX8/12MAR/YVR")...)
	w.send("12T07:02", processed("LSFO", ".J/S", ".F/LX7/12MAR/SEA")...)
	expectList(t, "legs", legs(w.one(plate)),
		"LX1/12 ZRH-GVA Not Loaded", "LX2/12 GVA-LHR Not Loaded", "LX3/12 LHR-BOS Not Loaded", "LX4/12 BOS-JFK Not Loaded", "LX5/12 JFK-LAX Not Loaded",
		"LX6/12 LAX-SFO Not Loaded", "LX7/12 SFO-SEA Not Loaded", "LX8/12 SEA-YVR Not Loaded", "LX9/12 YVR-YYC Not Loaded")
}

// The arrival that an old booking announced does not hide where its flight departed.
func TestALegThatDoesNotLiveHasTheAirportsOfTheLatestMessageThatKnowsItsDeparture(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", source("LZRH", "", ".F/LX602/12MAR/GVA")...)
	w.send("12T06:01", source("LZRH", "DEL", ".F/LX602/12MAR/GVA")...)
	w.send("12T06:02", source("XGVA", "DEL", ".F/LX602/12MAR/GVA")...)
	expectList(t, "legs", legs(w.one(plate)), "(LX602/12 ZRH-GVA)")
}
