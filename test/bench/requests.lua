-- What wrk sends. Arguments: a file of requests (a method, a path and a body in each line), sent in turn, and a number.
-- `@@@@@@@@` in a request is replaced by that number, which grows with each request, in eight digits, so that every
-- request is new and as long as the others.
local prepared, count, at, number = {}, 0, 0, 0

function init(args)
  number = tonumber(args[2])
  local withBody = { ["Content-Type"] = "application/json" }
  for name, value in pairs(wrk.headers) do withBody[name] = value end
  for line in io.lines(args[1]) do
    local method, path, body = line:match("^(%S+) (%S+) (.*)$")
    local raw = body == "" and wrk.format(method, path) or wrk.format(method, path, withBody, body)
    local pieces = {}
    for piece in (raw .. "@@@@@@@@"):gmatch("(.-)@@@@@@@@") do pieces[#pieces + 1] = piece end
    prepared[#prepared + 1] = #pieces == 1 and raw or pieces
  end
  count = #prepared
end

function request()
  local next = prepared[at % count + 1]
  at = at + 1
  if type(next) == "string" then return next end
  number = number + 1
  return table.concat(next, string.format("%08d", number))
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local form = '{"count":%d,"us":%d,"failed":%d,"p99":%d}\n'
  io.write(form:format(summary.requests, summary.duration, failed, latency:percentile(99)))
end
