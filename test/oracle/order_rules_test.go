package oracle_test

var orderRules = []rule{
	{"events stand in the order in which they happened", `
10:30 BPM .V/1LZRH .J/G///20JUN/100500Z .F/LX602/20JUN/GVA .N/+A
11:00 BPM .V/1LZRH .J/S///20JUN/100000Z .F/LX602/20JUN/GVA .N/+A`,
		[]string{"events A: SORTED GROUND_TRACKED"}},
	{"what happened at one time stands in the order in which it was received", `
11:00 BPM .V/1LZRH .J/S///20JUN/100000Z .F/LX602/20JUN/GVA .N/+A
10:30 BPM .V/1LZRH .J/G///20JUN/100000Z .F/LX602/20JUN/GVA .N/+A`,
		[]string{"events A: GROUND_TRACKED SORTED"}},
	{"the position breaks the tie of one received time", `
10:00 @7 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:00 @6 BSM DEL .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:00 @5 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"events A: EXPECTED CANCELLED EXPECTED", "legs A: LX604 ZRH-GVA Not Loaded"}},
	{"the position breaks the tie against the bytes of the text", `
10:00 @5 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:00 @6 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ZRH-GVA Not Loaded"}},
	{"a position is a partition, then an offset", `
10:00 @1:1 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:00 @0:9 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX604 ZRH-GVA Not Loaded"}},
	{"messages without a position come after those with one", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:00 @9 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ZRH-GVA Not Loaded"}},
	{"without positions the bytes of the text break the tie", `
10:00 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX604 ZRH-GVA Not Loaded"}},
	{"a read time without seconds stands at the end of its minute", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .J/R///20JUN/1005Z .F/LX602/20JUN/GVA .B/OFF/+A
10:20 BPM .V/1LZRH .J/R///20JUN/100530Z .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"events A: EXPECTED LOADED_ON_AIRCRAFT OFFLOADED", "times A: 10:00:00 10:05:30 10:05:00", "legs A: LX602 ZRH-GVA Offloaded"}},
	{"a read time without seconds stands before the next minute", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BPM .V/1LZRH .J/R///20JUN/1005Z .F/LX602/20JUN/GVA .B/OFF/+A
10:10 BPM .V/1LZRH .J/R///20JUN/100600Z .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"events A: EXPECTED OFFLOADED LOADED_ON_AIRCRAFT"}},
	{"a read time without seconds stands not after its receipt", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:05:10 BPM .V/1LZRH .J/R///20JUN/1005Z .F/LX602/20JUN/GVA .B/OFF/+A
10:20 BPM .V/1LZRH .J/R///20JUN/100530Z .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"events A: EXPECTED OFFLOADED LOADED_ON_AIRCRAFT"}},
	{"a read time does not lie after receipt", `
10:00 BPM .V/1LZRH .J/R///20JUN/103000Z .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A`,
		[]string{"events A: LOADED_ON_AIRCRAFT OFFLOADED", "times A: 10:00:00 10:10:00"}},
}

var deletionRules = []rule{
	{"a DEL takes away its own flight only", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:05 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:20 BSM DEL .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"events A: EXPECTED EXPECTED CANCELLED", "legs A: LX604 ZRH-GVA Not Loaded", "others A: LX602 ZRH-GVA", "bag A: /SMITH"}},
	{"a DEL of another date changes no leg", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BSM DEL .V/1LZRH .F/LX602/21JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ZRH-GVA Not Loaded"}},
	{"after a DEL that counts an older BSM does not come back", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:05 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:20 BSM DEL .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: none", "bag A: /SMITH cancelled"}},
	{"after a DEL that counts the next BSM is current", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BSM DEL .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:25 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ZRH-GVA Not Loaded", "bag A: /SMITH"}},
	{"a DEL takes away the booking, not the bag", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:25 BSM DEL .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ZRH-GVA Loaded on Aircraft", "D ZRH LX602: A Loaded on Aircraft", "bag A: /SMITH"}},
	{"a loaded bag whose booking was deleted stands in its list until a BPM there says otherwise", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:25 BSM DEL .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:30 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A`,
		[]string{"legs A: none", "D ZRH LX602: none", "bag A: /SMITH cancelled"}},
	{"a DEL counts for an onward flight out of an airport without a BSM", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH
10:20 BSM DEL .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"legs A: LX602 GVA-ZRH Not Loaded", "others A: LX14 ZRH-JFK"}},
	{"a DEL of another flight leaves an onward flight", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX14/20JUN/JFK .N/+A .P/SMITH
10:20 BSM DEL .V/1TZRH .F/LX016/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"legs A: LX602 GVA-ZRH Not Loaded, LX14 ZRH-JFK Not Loaded", "others A: LX16 ZRH-JFK"}},
	{"a DEL that does not count is nobody's predecessor", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BSM DEL .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:30 BSM CHG .V/1LZRH .F/LX602/20JUN/GVA .N/+A .S/Y/12A/B .P/SMITH`,
		[]string{"events A: EXPECTED CANCELLED PAX_BOARDED"}},
	{"a DEL that counted is the predecessor of the next BSM", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BSM DEL .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:30 BSM CHG .V/1LZRH .F/LX604/20JUN/GVA .N/+A .S/Y/12A/B .P/SMITH`,
		[]string{"events A: EXPECTED CANCELLED REROUTED"}},
	{"a DEL of an onward flight does not count where the airport ever had a BSM", `
10:00 BSM .V/1LGVA .F/LX602/20JUN/ZRH .O/LX014/20JUN/JFK .N/+A .P/SMITH
10:10 BSM .V/1TZRH .F/LX016/20JUN/JFK .N/+A .P/SMITH
10:20 BSM DEL .V/1TZRH .F/LX016/20JUN/JFK .N/+A .P/SMITH
10:30 BSM DEL .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
10:40 BSM CHG .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"events A: EXPECTED EXPECTED CANCELLED CANCELLED REROUTED"}},
	{"current BSMs of arriving and of departing flights are apart", `
10:00 BSM .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
10:20 BSM .V/1XZRH .F/LX602/20JUN/ZRH .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ?-ZRH Not Loaded, LX14 ZRH-JFK Not Loaded", "A ZRH LX602: A Not Loaded", "D ZRH LX14: A Not Loaded"}},
	{"a DEL of an arriving flight leaves the departing one", `
10:00 BSM .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH
10:20 BSM .V/1XZRH .F/LX602/20JUN/ZRH .N/+A .P/SMITH
10:30 BSM DEL .V/1XZRH .F/LX602/20JUN/ZRH .N/+A .P/SMITH`,
		[]string{"legs A: LX14 ZRH-JFK Not Loaded"}},
	{"the BSM of an arriving flight is no predecessor of that of a departing one", `
10:00 BSM .V/1XZRH .F/LX602/20JUN/ZRH .N/+A .P/SMITH
10:20 BSM CHG .V/1TZRH .F/LX014/20JUN/JFK .N/+A .P/SMITH`,
		[]string{"events A: EXPECTED EXPECTED"}},
	{"a BSM without a name ends no current BSM of another airline that names a passenger", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BSM .V/1LZRH .F/BA713/20JUN/LHR .N/+A`,
		[]string{"legs A: LX602 ZRH-GVA Not Loaded", "others A: BA713 ZRH-LHR", "events A: EXPECTED EXPECTED"}},
	{"a BSM without a name ends a current one of its own airline", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:20 BSM .V/1LZRH .F/SWR604/20JUN/GVA .N/+A`,
		[]string{"legs A: SWR604 ZRH-GVA Not Loaded"}},
	{"a BSM without a name ends another one without a name", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A
10:20 BSM .V/1LZRH .F/BA713/20JUN/LHR .N/+A`,
		[]string{"legs A: BA713 ZRH-LHR Not Loaded"}},
}

var copyRules = []rule{
	{"OFF, load and OFF again without read times is Offloaded", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:12 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:14 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A`,
		[]string{"events A: EXPECTED OFFLOADED LOADED_ON_AIRCRAFT OFFLOADED", "legs A: LX602 ZRH-GVA Offloaded"}},
	{"a text that comes again within the window is a copy", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A`,
		[]string{"events A: OFFLOADED"}},
	{"the window begins with the last of the equal messages that became an event", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:08 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:12 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A`,
		[]string{"times A: 10:00:00 10:12:00"}},
	{"a passenger who was rebooked back is on the first flight", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:02 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:04 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ZRH-GVA Not Loaded"}},
	{"messages of another kind or airport do not end the window", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OND/+A
10:01 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A
10:02 BPM .V/1LGVA .F/LX602/20JUN/GVA .B/OND/+A
10:03 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OND/+A`,
		[]string{"times A: 10:00:00 10:01:00 10:02:00"}},
	{"a positioning does not end the window", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:01 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41
10:03 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A`,
		[]string{"events A: LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT"}},
	{"copies count as messages", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OND/+A
10:01 BPM .V/1LZRH .J/S///20JUN/095900Z .F/LX602/20JUN/GVA .N/+A
10:02 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OND/+A
10:03 BPM .V/1LZRH .J/S///20JUN/095900Z .F/LX602/20JUN/GVA .N/+A
10:04 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OND/+A`,
		[]string{"times A: 09:59:00 10:00:00 10:02:00 10:04:00"}},
	{"a repeated text with its origin line is a copy whenever it comes", `
10:00 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:30 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
12:00 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"events A: EXPECTED EXPECTED", "legs A: LX604 ZRH-GVA Not Loaded"}},
	{"a repeated text with another origin line is no copy", `
10:00 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:30 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
12:00 .ZRHXXLX~201200 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"events A: EXPECTED EXPECTED EXPECTED", "legs A: LX602 ZRH-GVA Not Loaded"}},
	{"what stands around day and time belongs to the origin line", `
10:00 .ISTKMTK~LX/201000~BMD-1 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:30 .ISTKMTK~LX/201000~BMD-2 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
12:00 .ISTKMTK~LX/201000~BMD-1 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
12:01 .ISTKMTK~LX/201000~BMD-3 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+B .P/SMITH
12:30 .ISTKMTK~LX/201000~BMD-4 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+B .P/SMITH`,
		[]string{"events A: EXPECTED EXPECTED", "legs A: LX604 ZRH-GVA Not Loaded", "events B: EXPECTED EXPECTED"}},
	{"an origin line without day and time tells nothing", `
10:00 .ZRHXXLX BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:30 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
12:00 .ZRHXXLX BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ZRH-GVA Not Loaded"}},
	{"a text with its origin line that comes again within a minute can be meant", `
10:00:00 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:00:20 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:00:40 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX602 ZRH-GVA Not Loaded"}},
	{"the last moment of that minute belongs to it", `
10:00 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:00 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
10:01 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"events A: EXPECTED EXPECTED EXPECTED", "legs A: LX602 ZRH-GVA Not Loaded"}},
	{"another text with the origin line of a first one is no copy", `
10:00 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
12:00 .ZRHXXLX~201000 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX604 ZRH-GVA Not Loaded"}},
	{"the last origin line before the identifier counts", `
10:00 .MUCXXLH~201000 .ZRHXXLX~201001 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:30 BSM .V/1LZRH .F/LX604/20JUN/GVA .N/+A .P/SMITH
12:00 .MUCXXLH~201200 .ZRHXXLX~201001 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH`,
		[]string{"legs A: LX604 ZRH-GVA Not Loaded"}},
	{"a load that was sent again never puts a bag back on board", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:14 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:18 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"events A: EXPECTED LOADED_ON_AIRCRAFT OFFLOADED", "legs A: LX602 ZRH-GVA Offloaded"}},
	{"a load is no copy of one that an OFF was before, as a late message tells", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:14 BPM .V/1LZRH .J/R///20JUN/1008Z .F/LX602/20JUN/GVA .B/OFF/+A
10:18 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"events A: EXPECTED OFFLOADED LOADED_ON_AIRCRAFT LOADED_ON_AIRCRAFT"}},
	{"the last moment of the window belongs to it", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:14 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:20 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"legs A: LX602 ZRH-GVA Offloaded"}},
	{"a load in the words of one outside of the window counts", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:14 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:21 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"legs A: LX602 ZRH-GVA Loaded on Aircraft"}},
	{"a load in other words counts after an OFF", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:14 BPM .V/1LZRH .F/LX602/20JUN/GVA .B/OFF/+A
10:18 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/42 .N/+A`,
		[]string{"legs A: LX602 ZRH-GVA Loaded on Aircraft"}},
	{"a BPM with its read time is a copy whenever it comes", `
10:00 BSM .V/1LZRH .F/LX602/20JUN/GVA .N/+A .P/SMITH
10:10 BPM .V/1LZRH .J/R///20JUN/100900Z .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A
10:14 BPM .V/1LZRH .J/R///20JUN/101300Z .F/LX602/20JUN/GVA .B/OFF/+A
21/10:00 BPM .V/1LZRH .J/R///20JUN/100900Z .F/LX602/20JUN/GVA .U/AKE1/41 .N/+A`,
		[]string{"events A: EXPECTED LOADED_ON_AIRCRAFT OFFLOADED", "legs A: LX602 ZRH-GVA Offloaded"}},
	{"copies of positionings are judged among those of one container", `
10:00 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1 .N/+A
10:02 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41
10:03 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE2/41
10:04 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41
10:05 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/42
10:06 BPM .V/1LZRH .F/LX602/20JUN/GVA .U/AKE1/41`,
		[]string{"times A: 10:00:00 10:02:00 10:05:00 10:06:00"}},
}
