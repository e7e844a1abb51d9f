-- Requests for wrk. Arguments: path (a "#" in it is a number that grows), and "-", or a file of PAYMENT-SIGNATURE values (one a
-- line, each sent once), or "key" and an API key, or "webhooks" and a file of callback ids, each of which gets ten POSTs of 1 KiB, in ten rounds.
-- Prints one line of JSON at the end. A statement of statuses is kept by the thread, one thread a run.
local threads = {}
local counter = 0

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  path = args[1]
  statuses = {}
  sent = 0
  if args[2] == "webhooks" then
    ids = {}
    for line in io.lines(args[3]) do ids[#ids + 1] = line end
    wrk.body = '{"type":"invoice.paid","note":"' .. string.rep("x", 990) .. '"}'
    wrk.headers["Content-Type"] = "application/json"
  elseif args[2] == "key" then
    wrk.headers["Authorization"] = "Bearer " .. args[3]
    plain = wrk.format("GET", path)
  elseif args[2] ~= "-" then
    lines = {}
    for line in io.lines(args[2]) do lines[#lines + 1] = line end
  elseif not path:find("#", 1, true) then
    plain = wrk.format("GET", path)
  end
end

function webhook()
  if sent > 10 * #ids then
    wrk.thread:stop()
    return wrk.format("GET", "/health")
  end
  return wrk.format("POST", path .. ids[(sent - 1) % #ids + 1])
end

function request()
  if plain then return plain end
  sent = sent + 1
  if ids then return webhook() end
  if lines == nil then return wrk.format("GET", (path:gsub("#", sent))) end
  local header = lines[sent]
  if header == nil then
    wrk.thread:stop()
    return wrk.format("GET", "/health")
  end
  return wrk.format("GET", path, { ["PAYMENT-SIGNATURE"] = header })
end

function response(status)
  statuses[status] = (statuses[status] or 0) + 1
  codes = ""
  for code, count in pairs(statuses) do codes = codes .. (codes == "" and "" or ",") .. '"' .. code .. '":' .. count end
end

function done(summary, latency)
  io.write(string.format('RESULT {"requests":%d,"durationMicros":%d,"socketErrors":%d,"p50Micros":%d,"p99Micros":%d,"statuses":{%s}}\n',
    summary.requests, summary.duration,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50), latency:percentile(99), threads[1]:get("codes") or ""))
end
