-- Decides on one reject.
--
-- KEYS[1]  the reject
-- ARGV     the arguments of decide
--
-- Returns its state and its claim from before the call.
return {decide(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5])}
