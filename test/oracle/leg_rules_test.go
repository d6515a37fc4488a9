package oracle_test

var arrivalRules = []rule{
	{"a BPM whose flight arrives makes Arrived and sets no status", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
20:00 BPM .V/1LJFK .F/LX014/20JUN/JFK .N/+A`,
		[]string{"events A: EXPECTED ARRIVED", "legs A: LX14 ZRH-JFK Not Loaded"}},
	{"a BPM that names a place of the city of its airport is on arrival", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
20:00 BPM .V/1LJFK .F/LX014/20JUN/NYC .U/AKE1/41 .N/+A
20:20 BPM .V/1LEWR .J/R .F/LX014/20JUN/JFK .U/AKE1 .N/+A`,
		[]string{"events A: EXPECTED ARRIVED ARRIVED", "legs A: LX14 ZRH-JFK Not Loaded"}},
	{"a BPM with an inbound flight alone is on arrival", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
20:00 BPM .V/1LJFK .J/R .I/LX014/20JUN/ZRH .N/+A
20:10 BPM .V/1LJFK .J/S .I/LX014/20JUN/ZRH .N/+A
20:20 BPM .V/1LJFK .J/R .I/LX014/20JUN/ZRH .O/AA1/20JUN/LAX .N/+A`,
		[]string{"events A: EXPECTED ARRIVED SORTED ARRIVED", "legs A: LX14 ZRH-JFK Not Loaded"}},
	{"the outbound flight decides before the inbound one", `
10:00 BPM .V/1LZRH .I/LX602/20JUN/GVA .F/LX014/20JUN/JFK .N/+A`,
		[]string{"events A: LOADED_ON_AIRCRAFT"}},
	{"a NAL on arrival sets no status", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX014/20JUN/JFK .B/NAL/+A
20:00 BPM .V/1LJFK .F/LX014/20JUN/JFK .B/NAL/+A`,
		[]string{"events A: EXPECTED NAL NAL", "loading A: - LX14 -", "legs A: LX14 ZRH-JFK Loaded on Aircraft"}},
	{"on arrival a .B and an .X stay what they are", `
20:00 BPM .V/1LJFK .F/LX014/20JUN/JFK .B/OND/+A
20:10 BPM .V/1LJFK .F/LX014/20JUN/JFK .X//CLR .N/+A
20:20 BPM .V/1LJFK .J/H .F/LX014/20JUN/JFK .N/+A
20:30 BPM .V/1LJFK .J/C .F/LX014/20JUN/JFK .N/+A
20:40 BPM .V/1LJFK .J/G .F/LX014/20JUN/JFK .N/+A`,
		[]string{"events A: OND SCREENING_PASSED HAND_SCANNED TRACKED GROUND_TRACKED"}},
	{"a BPM without any flight is tracked", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
20:00 BPM .V/1LZRH .N/+A
20:10 BPM .V/1LZRH .J/R .O/BA175/20JUN/LHR .N/+A`,
		[]string{"events A: EXPECTED TRACKED TRACKED", "legs A: LX14 ZRH-JFK Not Loaded"}},
	{"a leg whose flight has departed is delayed", `
10:00 BSM .V/1LZRH .F/LX914/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"legs A: LX914 ZRH-JFK Delayed"}},
	{"a leg whose flight an Arrived event names is not delayed by departure", `
10:00 BSM .V/1LZRH .F/LX914/20JUN/JFK .N/+A .P/SMITH
10:00 BSM .V/1LZRH .F/LX914/20JUN/JFK .N/+B .P/SMITH
20:00 BPM .V/1LJFK .F/LX914/20JUN/JFK .N/+A
20:00 BPM .V/1LJFK .I/LX914/20JUN/ZRH .N/+B`,
		[]string{"legs A: LX914 ZRH-JFK Not Loaded", "legs B: LX914 ZRH-JFK Not Loaded"}},
	{"the arrival of a through flight does not count for the leg on which it goes on", `
10:00 BSM .V/1LGVA .F/LX914/20JUN/ZRH .O/LX914/20JUN/JFK .N/+A .N/+B .P/SMITH
12:00 BPM .V/1LZRH .F/LX914/20JUN/ZRH .N/+A
12:00 BPM .V/1LZRH .I/LX914/20JUN/GVA .N/+B`,
		[]string{"legs A: LX914 GVA-ZRH Not Loaded, LX914 ZRH-JFK Delayed", "legs B: LX914 GVA-ZRH Not Loaded, LX914 ZRH-JFK Delayed"}},
	{"an offloaded bag is not delayed by departure", `
10:00 BSM .V/1LZRH .F/LX914/20JUN/JFK .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX914/20JUN/JFK .B/OFF/+A`,
		[]string{"legs A: LX914 ZRH-JFK Offloaded"}},
}

var libraryRules = []rule{
	{"an unknown airport of an inbound or onward flight is kept as sent", `
10:00 BSM .V/1LZRH .I/LX602/20JUN/QQQ .F/LX014/20JUN/JFK .O/AA100/20JUN/QQZ .N/+A .P/SMITH`,
		[]string{"legs A: LX602 QQQ-ZRH, LX14 ZRH-JFK Not Loaded, AA100 JFK-QQZ Not Loaded"}},
	{"an unknown airport of the outbound flight refuses the message", `
10:00 BSM .V/1LZRH .F/LX014/20JUN/QQQ .N/+A .P/SMITH`,
		[]string{"legs A: none"}},
	{"what is not three capitals is no airport in .I and .O", `
10:00 BSM .V/1LZRH .I/LX602/20JUN/Q1Q .F/LX014/20JUN/JFK .N/+A .P/SMITH
10:00 BSM .V/1LZRH .F/LX014/20JUN/JFK .O/AA100/20JUN/JFKX .N/+B .P/SMITH`,
		[]string{"legs A: none", "legs B: none"}},
	{"metropolitan codes and stations are places", `
10:00 BSM .V/1LZRH .F/LX086/20JUN/YMQ .N/+A .P/SMITH
10:00 BSM .V/1LZRH .F/LX3000/20JUN/QKL .N/+B .P/SMITH`,
		[]string{"legs A: LX86 ZRH-YMQ Not Loaded", "legs B: LX3000 ZRH-QKL Not Loaded"}},
	{"Newark is a place of New York", `
10:00 BSM .V/1LZRH .F/LX018/20JUN/NYC .N/+A .P/SMITH
20:00 BPM .V/1LEWR .F/LX018/20JUN/NYC .N/+A`,
		[]string{"events A: EXPECTED ARRIVED", "A EWR LX18: A Not Loaded", "A JFK LX18: A Not Loaded"}},
	{"places meet directly, not through a third", `
10:00 BSM .V/1LEWR .F/LX019/20JUN/ZRH .N/+A .P/SMITH
10:00 BSM .V/1LZME .F/LX021/20JUN/ZRH .N/+B .P/SMITH
20:00 BPM .V/1LZME .B/OFF/+A
20:00 BPM .V/1LJFK .B/OFF/+B`,
		[]string{"legs A: LX19 EWR-ZRH Offloaded", "legs B: LX21 ZME-ZRH Not Loaded"}},
	{"a place at which a DEL is passed over does not decide the exit of a third", `
09:00 BPM .V/1LPHL .J/S .I/AA3/20JUN/ZME .N/+A
10:00 BSM .V/1LJFK .F/DL1/20JUN/LAX .N/+A .P/SMITH
10:05 BSM DEL .V/1LEWR .F/UA9/20JUN/ORD .N/+A .P/SMITH`,
		[]string{"legs A: DL1 JFK-LAX Not Loaded, AA3 ZME-PHL"}},
	{"the codes of one airline meet", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BPM .V/1LZRH .F/SWR0602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"legs A: LX602 ZRH-GVA Loaded on Aircraft", "D ZRH LX602: A Loaded on Aircraft", "D ZRH SWR602: A Loaded on Aircraft",
			"loading A: - SWR602"}},
	{"a DEL under the other code of an airline counts", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BSM DEL .V/1LZRH .F/SWR602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: none"}},
	{"of two holders of a code the busier is meant", `
10:00 BSM .V/1LZRH .F/LH1184/20JUN/FRA .N/+A .P/SMITH
10:20 BPM .V/1LZRH .F/GEC1184/20JUN/FRA .U/AKE1/41 .N/+A`,
		[]string{"D ZRH DLH1184: A Not Loaded", "D ZRH GEC1184: A Loaded on Aircraft"}},
}

var legRules = []rule{
	{"a through flight is a leg for each departure", `
10:00 BSM .V/1LGVA .F/LX204/20JUN/ZRH .O/LX204/20JUN/JFK .N/+A .P/SMITH
10:20 BPM .V/1LGVA .F/LX204/20JUN/ZRH .U/AKE1/41 .N/+A`,
		[]string{"legs A: LX204 GVA-ZRH Loaded on Aircraft, LX204 ZRH-JFK Not Loaded",
			"D GVA LX204: A Loaded on Aircraft", "D ZRH LX204: A Not Loaded", "A ZRH LX204: A Loaded on Aircraft", "A JFK LX204: A Not Loaded"}},
	{"an event of a through flight counts for the leg out of its airport", `
10:00 BSM .V/1LGVA .F/LX204/20JUN/ZRH .N/+A .P/SMITH
10:10 BSM .V/1TZRH .F/LX204/20JUN/JFK .N/+A .P/SMITH
10:20 BPM .V/1LGVA .F/LX204/20JUN/ZRH .U/AKE1/41 .N/+A
13:00 BPM .V/1LZRH .F/LX204/20JUN/JFK .B/OFF/+A`,
		[]string{"legs A: LX204 GVA-ZRH Loaded on Aircraft, LX204 ZRH-JFK Offloaded"}},
	{"an event out of an airport that no leg of its flight leaves counts for all of them unless it is a load", `
10:00 BSM .V/1LGVA .F/LX204/20JUN/ZRH .O/LX204/20JUN/JFK .N/+A .P/SMITH
10:20 BPM .V/1LGVA .F/LX204/20JUN/ZRH .U/AKE1/41 .N/+A
13:00 BPM .V/1LJFK .F/LX204/20JUN/JFK .B/OFF/+A`,
		[]string{"legs A: LX204 GVA-ZRH Offloaded, LX204 ZRH-JFK Offloaded"}},
	{"a load out of an airport that no leg of its flight leaves counts for none", `
10:00 BSM .V/1LGVA .F/LX204/20JUN/ZRH .N/+A .P/SMITH
10:10 BSM .V/1LLHR .F/BA716/20JUN/ZRH .N/+A .P/SMITH
10:20 BPM .V/1LLHR .F/LX204/20JUN/ZRH .U/AKE1/41 .N/+A
10:30 BPM .V/1LLHR .B/OND/+A`,
		[]string{"legs A: BA716 LHR-ZRH Not Loaded, LX204 GVA-ZRH Not Loaded"}},
	{"an arriving flight joins the leg of that flight that arrives there", `
10:00 BSM .V/1LGVA .F/LX204/20JUN/ZRH .O/LX204/20JUN/JFK .N/+A .P/SMITH
20:00 BSM .V/1XJFK .F/LX204/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"legs A: LX204 GVA-ZRH Not Loaded, LX204 ZRH-JFK Not Loaded"}},
	{"an arriving flight joins the only leg of that flight", `
10:00 BSM .V/1LGVA .F/LX204/20JUN/ZRH .N/+A .P/SMITH
20:00 BSM .V/1XJFK .F/LX204/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"legs A: LX204 GVA-ZRH Not Loaded"}},
	{"an arriving flight is a leg of its own if none of several legs of that flight arrives there", `
10:00 BSM .V/1LGVA .F/LX204/20JUN/ZRH .O/LX204/20JUN/JFK .N/+A .P/SMITH
20:00 BSM .V/1XBOS .F/LX204/20JUN/BOS .N/+A .P/SMITH`,
		[]string{"A BOS LX204: A Not Loaded", "A ZRH LX204: A Not Loaded", "A JFK LX204: A Not Loaded"}},
	{"an arriving flight alone has an unknown departure", `
20:00 BSM .V/1XJFK .F/LX204/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"legs A: LX204 ?-JFK Not Loaded", "A JFK LX204: A Not Loaded"}},
	{"a bag is in a list once, with the first leg that fits", `
10:00 BSM .V/1LLGW .F/LX204/20JUN/GVA .O/LX204/20JUN/LGW .O/LX204/20JUN/ZRH .N/+A .P/SMITH
10:20 BPM .V/1LGVA .F/LX204/20JUN/LGW .U/AKE1/41 .N/+A
10:30 BPM .V/1LLGW .F/LX204/20JUN/GVA .B/OFF/+A`,
		[]string{"D LGW LX204: A Offloaded"}},
	{"an event without a flight sets the status of the leg that departs there", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH
12:00 BPM .V/1LZRH .B/OFF/+A`,
		[]string{"legs A: LX602 GVA-ZRH Not Loaded, LX14 ZRH-JFK Offloaded"}},
	{"a leg that is known from an inbound flight only has no status", `
10:00 BSM .V/1TZRH .I/LX602/20JUN/GVA .F/LX014/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"legs A: LX602 GVA-ZRH, LX14 ZRH-JFK Not Loaded"}},
	{"a leg that is known from an inbound flight only has a status once an event at its departure names it", `
09:00 BSM .V/1TZRH .I/LX602/20JUN/GVA .F/LX014/20JUN/JFK .N/+A .P/SMITH
09:10 BPM .V/1LGVA .F/LX602/20JUN/ZRH .N/+A
09:00 BSM .V/1TZRH .I/LX602/20JUN/GVA .F/LX014/20JUN/JFK .N/+B .P/SMITH
09:10 BPM .V/1LGVA .F/LX602/20JUN/ZRH .N/+B
09:20 BPM .V/1LGVA .F/LX602/20JUN/ZRH .B/OFF/+B
09:00 BSM .V/1TZRH .I/LX602/20JUN/GVA .F/LX014/20JUN/JFK .N/+D .P/SMITH
09:10 BPM .V/1LGVA .J/S .F/LX602/20JUN/ZRH .N/+D
09:20 BPM .V/1LGVA .B/OND/+D
09:30 BPM .V/1LZRH .F/LX602/20JUN/ZRH .B/UNS/+D`,
		[]string{"D GVA LX602: A Loaded on Aircraft, B Offloaded, D"}},
	{"a late report of arrival does not hide the leg on which a through flight goes on", `
10:00 BPM .V/1LZRH .J/R .F/LX204/20JUN/JFK .N/+A
10:10 BPM .V/1LZRH .F/LX204/20JUN/ZRH .N/+A`,
		[]string{"legs A: LX204 ZRH-JFK Loaded on Aircraft"}},
	{"a bag that is loaded on another flight is not loaded on the first", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:20 BPM .V/1LZRH .F/LX604/20JUN/GVA .U/AKE2/41 .N/+A`,
		[]string{"D ZRH LX602: A Not Loaded", "D ZRH LX604: A Loaded on Aircraft"}},
	{"a bag that is offloaded from another flight is offloaded where it was loaded", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:20 BPM .V/1LZRH .F/LX604/20JUN/GVA .B/OFF/+A`,
		[]string{"legs A: LX602 ZRH-GVA Offloaded", "others A: LX604 ZRH-GVA"}},
	{"an event for an arriving flight leaves what departs there loaded", `
10:00 BSM .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX014/20JUN/JFK .U/AKE1/41 .N/+A
10:20 BPM .V/1LZRH .F/LX602/20JUN/ZRH .B/OND/+A`,
		[]string{"legs A: LX14 ZRH-JFK Loaded on Aircraft"}},
	{"a bag is loaded at one airport whatever happens at another", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH
10:20 BPM .V/1LGVA .F/LX602/20JUN/ZRH .U/AKE1/41 .N/+A
12:00 BPM .V/1LZRH .F/LX014/20JUN/JFK .B/OFF/+A`,
		[]string{"legs A: LX602 GVA-ZRH Loaded on Aircraft, LX14 ZRH-JFK Offloaded"}},
}

var listRules = []rule{
	{"a leg that ends at Gatwick is not in the list of Heathrow", `
10:00 BSM .V/1LZRH .F/LX324/20JUN/LGW .N/+A .P/SMITH`,
		[]string{"A LGW LX324: A Not Loaded", "A LHR LX324: none", "A LON LX324: none", "D ZRH LX324: A Not Loaded"}},
	{"a leg that leaves Gatwick is not in the list of Heathrow", `
10:00 BSM .V/1LLGW .F/LX325/20JUN/ZRH .N/+A .P/SMITH`,
		[]string{"D LGW LX325: A Not Loaded", "D LHR LX325: none"}},
	{"a leg whose end is a metropolitan code is in the list of each airport of that city", `
10:00 BSM .V/1LZRH .F/LX324/20JUN/LON .N/+A .P/SMITH`,
		[]string{"A LGW LX324: A Not Loaded", "A LHR LX324: A Not Loaded", "A LON LX324: A Not Loaded", "A JFK LX324: none"}},
	{"a leg that ends at EAP is in the list of Basel", `
10:00 BSM .V/1LLHR .F/BA754/20JUN/EAP .N/+A .P/SMITH
10:00 BSM .V/1LLHR .F/BA754/20JUN/BSL .N/+B .P/SMITH`,
		[]string{"A BSL BA754: A Not Loaded, B Not Loaded", "A EAP BA754: A Not Loaded"}},
	{"the history of a bag without flights is found by the day of any event", `
18/10:00 BPM .V/1LZRH .J/S///18JUN/095500Z .N/+A
20/10:00 BPM .V/1LZRH .J/S///20JUN/095500Z .N/+A
20/11:00 REPORT ZRH A
20/22:30 REPORT ZRH A`,
		[]string{"events A: SORTED SORTED MISHANDLED MISHANDLED", "history A 18: /", "history A 19: none", "history A 20: /", "history A 21: /"}},
	{"the history of a bag with flights is found by their dates", `
18/10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .O/LX14/21JUN/JFK .N/+A .P/SMITH
18/11:00 BPM .V/1LZRH .J/S .F/LX602/20JUN/GVA .N/+A`,
		[]string{"history A 18: none", "history A 20: /SMITH", "history A 21: /SMITH"}},
}
