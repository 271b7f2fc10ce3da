import { parseArgs } from 'node:util';
import { faultLines, httpFaults } from './faults.ts';
import { startMock } from './server.ts';
import { scripts } from './sockets/scripts.ts';

/**
 * `npm run mock -- [--port 4010] [--host 127.0.0.1] [--task-seconds 3] [--dynamic [--seed 7]] [--help]`: a server that answers from the
 * contract's examples, over HTTP and both sockets, with small files that play and tasks that finish.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4010' },
    host: { type: 'string', default: '127.0.0.1' },
    'task-seconds': { type: 'string', default: '3' },
    dynamic: { type: 'boolean', default: false },
    seed: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const help = `npm run mock -- [--port 4010] [--host 127.0.0.1] [--task-seconds 3] [--dynamic [--seed 7]] [--help]

Answers every path of the OpenAPI document and plays the sockets of the AsyncAPI document. Any key is good. Requests
are checked as the gateway checks them. Speech, videos and 3D objects are small files that play; streams come piece by
piece; a task that was made moves through its states and ends, with [[fail-late]] in its prompt as failed. The ids of
the examples always answer. "Prefer: code=429" and "Prefer: code=200, example=queued" ask for a documented answer.
With --dynamic JSON answers that keep no state are made up within their schemas, the same again with the same --seed;
"Prefer: dynamic=true, seed=7" does so for one request.

A request asks for trouble in headers, which come before what is set on the control page, /__mock/:
  x-mock-delay: 800     milliseconds before the answer
  x-mock-jitter: 200    up to so many more, by chance
  x-mock-status: 429    a documented status, as "Prefer: code=429"
  x-mock-fault: drop    one of these:
${faultLines(httpFaults)}

A socket takes the same but the status, in headers or, since pages cannot set those, as
  ws://127.0.0.1:4010/v1/realtime?model=alpha3-tts-flash-realtime&mock_fault=drop&mock_delay=200
Its delay comes before the handshake and before each frame is taken. Its faults, of which all but those of the handshake
begin after the first piece of audio:
${faultLines(scripts)}
`;

if (values.help) {
  console.log(help);
  process.exit(0);
}

try {
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port ${values.port} is not a port`);
  const seconds = Number(values['task-seconds']);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new Error(`--task-seconds ${values['task-seconds']} is no number of seconds up to a day`);
  const mock = await startMock({
    port,
    host: values.host,
    taskMs: seconds * 1000,
    dynamic: values.dynamic,
    ...(values.seed !== undefined && { seed: values.seed }),
  });
  console.log(`mock listening on ${mock.url}`);
  const stop = () => void mock.close().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
} catch (error) {
  console.error(`the mock cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
