package oracle_test

import (
	"fmt"
	"strings"
)

var nameRules = []rule{
	{"surnames compare by their letters alone", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/O'NEIL
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A .P/ONEIL`,
		[]string{"legs A: LX602 ZRH-GVA Offloaded", "history A 20 pnr= name=ONEIL: /O'NEIL", "history A 20 pnr= name=O-Neil: /O'NEIL",
			"history A 20 pnr= name=NEIL: none"}},
	{"a byte that is not UTF-8 is a letter of a surname", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/MLLER
10:00 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/M` + "\xdc" + `LLER
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A .P/M` + "\xd6" + `LLER`,
		[]string{"events A: EXPECTED | EXPECTED OFFLOADED"}},
	{"a rebooked bag is found by its new PNR", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:10 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH .L/xyz789`,
		[]string{"pnr XYZ789: A", "pnr ABC123: none", "history A 20 pnr=XYZ789: xyz789/SMITH", "history A 20 pnr=ABC123: none"}},
	{"a bag is found by the PNR of each airport", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .N/+A .P/SMITH .L/ABC123
10:10 BSM .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/XYZ789`,
		[]string{"pnr XYZ789: A", "pnr ABC123: A", "bag A: XYZ789/SMITH"}},
	{"a bag is found by the PNR of an arriving BSM beside that of a departing one", `
10:00 BSM .V/1XZRH .F/LX602/20JUN/ZRH .N/+A .P/SMITH .L/ABC123
10:10 BSM .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/XYZ789`,
		[]string{"pnr XYZ789: A", "pnr ABC123: A"}},
	{"a bag whose current BSMs hold no PNR is found by those of all its messages", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:10 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:20 BPM .V/1LZRH .J/S .F/LX604/20JUN/GVA .N/+A .P/SMITH .L/XYZ789`,
		[]string{"pnr ABC123: A", "pnr XYZ789: A"}},
	{"a mistyped surname that was corrected does not find the bag", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SNITH .L/ABC123
10:10 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123`,
		[]string{"history A 20 pnr= name=SMITH: ABC123/SMITH", "history A 20 pnr= name=SNITH: none"}},
	{"a positioning names no passenger", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .P/SMITH/ANNA .L/ABC123`,
		[]string{"events A: LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT", "pnr ABC123: none", "bag A: / unknown", "given A: none",
			"history A 20 pnr= name=SMITH: none"}},
	{"a given name that ends like a title stays whole", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH/WILLIAMS
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+B .P/SMITH/ANNAMS
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+C .P/SMITH/ADAMS`,
		[]string{"given A: WILLIAMS", "given B: ANNA", "given C: ADAMS"}},
}

var fieldRules = []rule{
	{"a compartment that is the airport is left out", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/ZRH .N/+A
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"events A: LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT", "compartments A: - 41"}},
	{"an event that sets a Loaded status shows its flight", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .N/+A
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .B/OFF/+A
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/NAL/+A
11:00 BPM .V/1LGVA .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"events A: LOADED_ON_AIRCRAFT LOADED_IN_CONTAINER OFFLOADED NAL ARRIVED", "loading A: LX602 LX602 - LX602 -"}},
	{"the seat is that of the latest BSM for the flight that holds one", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .S/Y/12A .P/SMITH
10:10 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .S/Y/1F .P/SMITH
10:20 BSM CHG .V/1LZRH .F/LX602/20JUN/GVA .N/+A .S/Y//B .P/SMITH`,
		[]string{"D ZRH LX602: A Not Loaded 12A"}},
}

var delayRules = []rule{
	{"a report makes Delayed what is not loaded on aircraft", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH
10:20 BPM .V/1LGVA .F/LX602/20JUN/ZRH .U/AKE1/41 .N/+A
12:00 BPM .V/1LZRH .F/LX014/20JUN/JFK .U/AKE2 .N/+A
21/10:00 REPORT JFK A`,
		[]string{"events A: EXPECTED LOADED_ON_AIRCRAFT LOADED_IN_CONTAINER MISHANDLED",
			"legs A: LX602 GVA-ZRH Loaded on Aircraft, LX14 ZRH-JFK Delayed"}},
	{"a report makes the last leg Delayed if all are loaded on aircraft", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH
10:20 BPM .V/1LGVA .F/LX602/20JUN/ZRH .U/AKE1/41 .N/+A
12:00 BPM .V/1LZRH .F/LX014/20JUN/JFK .U/AKE2/41 .N/+A
21/10:00 REPORT JFK A`,
		[]string{"legs A: LX602 GVA-ZRH Loaded on Aircraft, LX14 ZRH-JFK Delayed"}},
	{"a report leaves out a last leg without a status", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
12:00 BPM .V/1LZRH .F/LX014/20JUN/JFK .U/AKE2/41 .N/+A
21/08:00 BPM .V/1LBOS .I/LX016/21JUN/JFK .N/+A
21/10:00 REPORT BOS A`,
		[]string{"legs A: LX14 ZRH-JFK Delayed, LX16/21 JFK-BOS"}},
	{"a report leaves out legs without a status", `
10:00 BSM .V/1TZRH .I/LX602/20JUN/GVA .F/LX014/20JUN/JFK .N/+A .P/SMITH
12:00 BPM .V/1LZRH .F/LX014/20JUN/JFK .U/AKE2/41 .N/+A
21/10:00 REPORT JFK A`,
		[]string{"legs A: LX602 GVA-ZRH, LX14 ZRH-JFK Delayed"}},
	{"what comes after a report sets the status again", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
12:00 REPORT JFK A
12:30 BPM .V/1LZRH .F/LX014/20JUN/JFK .U/AKE2/41 .N/+A`,
		[]string{"legs A: LX14 ZRH-JFK Loaded on Aircraft"}},
}

var rushRules = []rule{
	{"the original of a rush bag is delayed, the rush bag is judged like any other", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH .L/ABC123
10:20 BPM .V/1LGVA .F/LX602/20JUN/ZRH .U/AKE1/41 .N/+A
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+B .E/RUSH .M/#A .P/SMITH .L/ABC123`,
		[]string{"legs A: LX602 GVA-ZRH Loaded on Aircraft, LX14 ZRH-JFK Delayed", "legs B: LX14/21 ZRH-JFK Not Loaded",
			"reflighted B: A:LX14", "rushtag A ABC123: B", "rushtag B ABC123 21: none", "bag B: ABC123/SMITH rush"}},
	{"a leg of an original with a later event is what that event says", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+B .E/RUSH .M/#A .P/SMITH
21/09:00 BPM .V/1LZRH .F/LX014/20JUN/JFK .B/OND/+A`,
		[]string{"legs A: LX602 GVA-ZRH Delayed, LX14 ZRH-JFK Not Loaded"}},
	{"an event before the first of the rush bags does not count against it", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+B .E/RUSH .M/#A .P/SMITH .L/ABC123
21/09:00 BPM .V/1LZRH .F/LX014/20JUN/JFK .B/OFF/+A
21/10:00 BSM .V/1LZRH .F/LX016/21JUN/JFK .N/+C .E/RUSH .M/#A .P/SMITH .L/ABC123`,
		[]string{"legs A: LX14 ZRH-JFK Offloaded", "rushtag A ABC123: C"}},
	{"one plate in two groups of a message has two originals", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/ABC123
10:00 BSM .V/1LZRH .F/LX016/20JUN/JFK .N/+B .P/SMITH .L/XYZ789
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .M/#A .P/SMITH .F/LX018/21JUN/JFK .N/+R .M/#B .P/SMITH`,
		[]string{"reflighted R: A:LX14 B:LX16", "rushtag A ABC123: R", "rushtag B XYZ789: R", "legs A: LX14 ZRH-JFK Delayed", "legs B: LX16 ZRH-JFK Delayed"}},
	{"of several bags of the plate and day the original is the one with the first message", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/XYZ789
11:00 BSM .V/1LZRH .F/LX016/20JUN/JFK .N/+A .P/JONES .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX018/21JUN/JFK .N/+R .M/#A .P/SMITH .L/XYZ789`,
		[]string{"reflighted R: A:LX14", "rushtag A XYZ789: R", "rushtag A ABC123: none", "legs A: LX16 ZRH-JFK Not Loaded | LX14 ZRH-JFK Delayed"}},
	{"a message about several bags does not decide which of them is the original", `
09:00 BPM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/MEIER
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/XYZ789
11:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/JONES .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX018/21JUN/JFK .N/+R .M/#A .P/SMITH .L/XYZ789`,
		[]string{"rushtag A XYZ789: R", "rushtag A ABC123: none"}},
	{"the latest message that names an original counts", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/ABC123
10:00 BSM .V/1LZRH .F/LX016/20JUN/JFK .N/+B .P/SMITH .L/XYZ789
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .M/#A .P/SMITH
21/09:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .M/#B .P/SMITH`,
		[]string{"rushtag A ABC123: none", "rushtag B XYZ789: R", "legs A: LX14 ZRH-JFK Not Loaded", "legs B: LX16 ZRH-JFK Delayed"}},
	{"an event of an earlier message shows the original that its own group names", `
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .M/#A .P/SMITH
21/09:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .M/#B .P/SMITH .F/LX020/21JUN/JFK .N/+R .M/#A .P/SMITH`,
		[]string{"reflighted R: A: B: A:"}},
	{"the first word of ten digits in .R names an original", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .R/WAS~#A~AND~#B .P/SMITH`,
		[]string{"reflighted R: A:LX14"}},
	{"no plate is named if the first word of ten digits in .R is the bag's own plate", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .R/TAG~#R~WAS~#A .P/JONES`,
		[]string{"reflighted R: -", "legs A: LX14 ZRH-JFK Not Loaded"}},
	{"a plate that is named but has no bag is shown without a flight", `
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .M/#A .P/SMITH`,
		[]string{"reflighted R: A:"}},
	{"an original that no plate names is the one bag that is found by PNR and surname", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/O'NEIL .L/OLD123
10:10 BSM CHG .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/O'NEIL .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .P/ONEIL .L/abc123`,
		[]string{"reflighted R: A:LX14", "rushtag A ABC123: R"}},
	{"a PNR that was rebooked away finds no original", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/O'NEIL .L/OLD123
10:10 BSM CHG .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/O'NEIL .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .P/ONEIL .L/OLD123`,
		[]string{"reflighted R: -", "rushtag A ABC123: none"}},
	{"of two bags of a passenger none is the original", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/ABC123
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+B .P/SMITH .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+R .P/SMITH .L/ABC123`,
		[]string{"reflighted R: -"}},
	{"of several rush bags that one message makes the highest plate is the rush tag", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX014/21JUN/JFK .N/+C .N/+B .E/RUSH .M/#A .P/SMITH .L/ABC123`,
		[]string{"rushtag A ABC123: C"}},
	{"a bag that is sent on under its own plate is its own rush bag", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX016/21JUN/JFK .N/+A .E/RUSH .P/SMITH .L/ABC123`,
		[]string{"events A: EXPECTED REFLIGHTED", "reflighted A: -", "rushtag A ABC123: none", "bag A: ABC123/SMITH rush",
			"legs A: LX602 GVA-ZRH Delayed, LX16/21 ZRH-JFK Not Loaded"}},
	{"a bag that is its own rush bag has no other original", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .N/+A .P/SMITH .L/ABC123
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .N/+B .P/SMITH .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX016/21JUN/JFK .N/+A .E/RUSH .P/SMITH .L/ABC123`,
		[]string{"reflighted A: -", "rushtag B ABC123: none", "legs B: LX602 GVA-ZRH Not Loaded"}},
	{"a rush BSM before all other messages re-flights another bag", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .N/+A .P/SMITH .L/ABC123
21/08:00 BSM .V/1LZRH .F/LX016/21JUN/JFK .N/+B .E/RUSH .P/SMITH .L/ABC123`,
		[]string{"reflighted B: A:LX602", "rushtag A ABC123: B"}},
	{"a rush BSM on its own plate joins the journey that began at most 14 days before", `
06/10:00 BSM .V/1LGVA .F/LX602/06JUN/ZRH .N/+A .P/SMITH
20/08:00 BSM .V/1LZRH .F/LX016/20JUN/JFK .N/+A .E/RUSH .P/SMITH`,
		[]string{"events A: EXPECTED REFLIGHTED", "bag A: /SMITH rush"}},
	{"a rush BSM on its own plate joins no journey that began 15 days before", `
05/10:00 BSM .V/1LGVA .F/LX602/05JUN/ZRH .N/+A .P/SMITH
20/08:00 BSM .V/1LZRH .F/LX016/20JUN/JFK .N/+A .E/RUSH .P/SMITH`,
		[]string{"events A: EXPECTED | REFLIGHTED", "bag A: /SMITH | /SMITH rush"}},
	{"a BSM without RUSH joins no journey of ten days before", `
10/10:00 BSM .V/1LGVA .F/LX602/10JUN/ZRH .N/+A .P/SMITH
20/08:00 BSM .V/1LZRH .F/LX016/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"events A: EXPECTED | EXPECTED"}},
	{"a rush BSM on its own plate joins the latest journey before it", `
07/10:00 BSM .V/1LGVA .F/LX602/07JUN/ZRH .N/+A .P/SMITH
12/10:00 BSM .V/1LGVA .F/LX602/12JUN/ZRH .N/+A .P/SMITH
20/08:00 BSM .V/1LZRH .F/LX016/20JUN/JFK .N/+A .E/RUSH .P/SMITH`,
		[]string{"events A: EXPECTED | EXPECTED REFLIGHTED"}},
}

var containerRules = []rule{
	{"a positioning takes what is in the container", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: EXPECTED LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT", "legs A: LX602 ZRH-GVA Loaded on Aircraft"}},
	{"a positioning does not take a bag that was offloaded from the container it names", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .B/OFF/+A
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: EXPECTED LOADED_IN_CONTAINER OFFLOADED", "legs A: LX602 ZRH-GVA Offloaded"}},
	{"a positioning does not take a bag on hand or unseen, with or without flight and device", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A .N/+B .N/+C .N/+D
10:20 BPM .V/1LZRH .B/OND/+A
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/ONA/+B
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .B/UNS/+C
10:20 BPM .V/1LZRH .B/OFF/+D
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: LOADED_IN_CONTAINER OND", "events B: LOADED_IN_CONTAINER ONA", "events C: LOADED_IN_CONTAINER UNS",
			"events D: LOADED_IN_CONTAINER OFFLOADED"}},
	{"a positioning does not take a bag that is in another container or on another flight", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A .N/+B
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE2 .N/+A
10:20 BPM .V/1LZRH .F/LX604/20JUN/GVA .U/AKE1 .N/+B
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: LOADED_IN_CONTAINER LOADED_IN_CONTAINER", "events B: LOADED_IN_CONTAINER LOADED_IN_CONTAINER"}},
	{"a load without a device is passed over by positionings", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:10 BPM .V/1LZRH .J/R .F/LX602/20JUN/GVA .N/+A
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT LOADED_ON_AIRCRAFT"}},
	{"a load without a device on another flight is not passed over by positionings", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A .N/+B
10:10 BPM .V/1LZRH .J/R .F/LX604/20JUN/GVA .N/+A .N/+B
10:20 BPM .V/1LZRH .J/R .F/LX602/20JUN/GVA .N/+A
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT LOADED_ON_AIRCRAFT", "events B: LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT"}},
	{"a device whose name is too long is in no container that is positioned, but its bags are not aboard", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:10 BPM .V/1LZRH .J/R .F/LX602/20JUN/GVA .U/AKE12345LXX .N/+A
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE12345LXX/41
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41
10:40 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE12345LXX .B/NAL/+B`,
		[]string{"events A: LOADED_IN_CONTAINER LOADED_IN_CONTAINER", "legs A: LX602 ZRH-GVA Loaded in Container", "legs B: LX602 ZRH-GVA Loaded in Container"}},
	{"the event of an earlier positioning counts for a later one", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/42`,
		[]string{"compartments A: - 41 42"}},
	{"a positioning compares airports exactly", `
10:00 BPM .V/1LLHR .F/BA713/20JUN/GVA .U/AKE1 .N/+A
10:10 BPM .V/1LLGW .F/BA713/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: LOADED_IN_CONTAINER"}},
	{"a positioning on arrival takes nothing", `
10:00 BPM .V/1LLHR .F/BA713/20JUN/GVA .U/AKE1 .N/+A
10:10 BPM .V/1LGVA .F/BA713/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: LOADED_IN_CONTAINER"}},
	{"a positioning gives no leg by its inbound flight", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .I/LX016/19JUN/JFK .U/AKE1/41`,
		[]string{"legs A: LX602 ZRH-GVA Loaded on Aircraft", "D JFK LX16 19: none", "history A 19 pnr= name=: /SMITH"}},
	{"a positioning meets the other code of its airline", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:10 BPM .V/1LZRH .F/SWR602/20JUN/GVA .U/AKE1/41`,
		[]string{"events A: LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT"}},
}

var identityRules = []rule{
	{"a name that fits nobody is about the one bag on its flight", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A .P/SMI`,
		[]string{"events A: EXPECTED LOADED_ON_AIRCRAFT OFFLOADED", "legs A: LX602 ZRH-GVA Offloaded"}},
	{"a CHG whose names fit nobody is about the one bag on its flight", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:20 BSM CHG .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SNITH .L/XYZ789`,
		[]string{"events A: EXPECTED EXPECTED", "bag A: XYZ789/SNITH"}},
	{"a BPM whose names fit nobody is about each of several bags on its flight", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/MEIER .L/XYZ789
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A .P/SMI`,
		[]string{"bag A: ABC123/SMITH | XYZ789/MEIER", "events A: EXPECTED OFFLOADED | EXPECTED OFFLOADED"}},
	{"a CHG whose names fit nobody is a bag of its own where several are on its flight", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/MEIER .L/XYZ789
10:20 BSM CHG .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMI .L/QQQ111`,
		[]string{"bag A: ABC123/SMITH | QQQ111/SMI | XYZ789/MEIER"}},
	{"a name that fits nobody stays with those that share it where no bag is on its flight", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:20 BPM .V/1LZRH .F/LX604/20JUN/GVA .B/OFF/+A .P/SMI
10:30 BPM .V/1LZRH .J/S .F/LX604/20JUN/GVA .N/+A .P/SMI`,
		[]string{"events A: OFFLOADED SORTED | EXPECTED", "bag A: /SMI unknown | ABC123/SMITH"}},
	{"two passengers on one plate are two bags", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:00 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/MEIER .L/XYZ789
10:20 BPM .V/1LZRH .F/LX604/20JUN/GVA .B/OFF/+A`,
		[]string{"events A: EXPECTED | EXPECTED OFFLOADED"}},
	{"a message that fits nobody is about each of 99 passengers", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA ` + passengers(99) + `
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A .P/SMI
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .J/S .N/+A`,
		[]string{"events A: " + strings.Repeat(" | EXPECTED OFFLOADED SORTED", 99)[3:]}},
	{"a message that fits nobody is about none of 100 passengers", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA ` + passengers(100) + `
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A .P/SMI
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .J/S .N/+A`,
		[]string{"events A: SORTED | OFFLOADED" + strings.Repeat(" | EXPECTED", 100)}},
	{"beside 100 passengers, a message without a name is by itself even if it names the flight of one", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA ` + passengers(99) + ` .F/LX604/20JUN/GVA .N/+A .L/OTHER1
10:30 BPM .V/1LZRH .F/LX604/20JUN/GVA .J/S .N/+A`,
		[]string{"events A: SORTED" + strings.Repeat(" | EXPECTED", 100)}},
	{"a history has a cancelled bag only if no other matches", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/MEIER .L/XYZ789
10:20 BSM DEL .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH .L/ABC123`,
		[]string{"bag A: ABC123/SMITH cancelled | XYZ789/MEIER", "history A 20: XYZ789/MEIER", "history A 20 pnr=ABC123: ABC123/SMITH"}},
}

// passengers returns groups of plate A, each with a PNR of its own.
func passengers(n int) string {
	var groups strings.Builder
	for i := range n {
		fmt.Fprintf(&groups, " .N/+A .L/P%05d", i)
	}
	return groups.String()
}
