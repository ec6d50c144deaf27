-- What wrk sends. Arguments: `get` and a file of paths, one a line; `post`, a path and a file with one body; or `posts`, a
-- path and a file of bodies, one a line, sent in turn.
-- `@@@@@@@@` in a body is replaced by a counter of the same width, so that each body is new and as long as the others.
local prepared, count, at = {}, 0, 0
local pieces

local function readFile(name)
  local file = assert(io.open(name, "r"))
  local text = file:read("*a")
  file:close()
  return text
end

function init(args)
  if args[1] == "post" then
    wrk.headers["Content-Type"] = "application/json"
    local raw = wrk.format("POST", args[2], nil, readFile(args[3]))
    pieces = {}
    for piece in (raw .. "@@@@@@@@"):gmatch("(.-)@@@@@@@@") do pieces[#pieces + 1] = piece end
  elseif args[1] == "posts" then
    wrk.headers["Content-Type"] = "application/json"
    for body in readFile(args[3]):gmatch("[^\n]+") do prepared[#prepared + 1] = wrk.format("POST", args[2], nil, body) end
    count = #prepared
  else
    for path in readFile(args[2]):gmatch("[^\n]+") do prepared[#prepared + 1] = wrk.format("GET", path) end
    count = #prepared
  end
end

function request()
  at = at + 1
  if pieces then return table.concat(pieces, string.format("%08d", at)) end
  return prepared[at % count + 1]
end

function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('{"requests":%d,"us":%d,"failed":%d}\n', summary.requests, summary.duration, failed))
end
