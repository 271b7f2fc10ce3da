import { faultLines, httpFaults } from './faults.ts';
import { readFlags } from './flags.ts';
import { startMock } from './server.ts';
import { scripts } from './sockets/scripts.ts';

/** `npm run mock -- [options]`: a server that answers from the contract, see its help. */
const help = `npm run mock -- [--port 4010] [--host 127.0.0.1] [--task-seconds 3] [--dynamic] [--seed 7]
    [--examples FOLDER [--record GATEWAY_URL [--key KEY] [--record-limit 5]]] [--help]

Answers every path of the OpenAPI document and plays the sockets of the AsyncAPI document. Any key is good. Requests
are checked as the gateway checks them. Speech, videos and 3D objects are small files that play; streams come piece by
piece; a task that was made moves through its states and ends, with [[fail-late]] in its prompt as failed. The ids of
the examples always answer. "Prefer: code=429" and "Prefer: code=200, example=queued" ask for a documented answer.
With --dynamic JSON answers that keep no state are made up within their schemas, the same again with the same --seed;
"Prefer: dynamic=true, seed=7" does so for one request.

With --record every request over HTTP goes to a gateway, with the key of --key or UNIGATE_API_KEY, and its answers are
kept in the folder of --examples, without keys, tokens and addresses of files; bodies over --record-limit megabytes are
left out. With --examples alone the same requests are answered from that folder.

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

try {
  const options = await readFlags(process.argv.slice(2), process.env);
  if (options === undefined) {
    console.log(help);
    process.exit(0);
  }
  const mock = await startMock(options);
  console.log(`mock listening on ${mock.url}`);
  const stop = () => void mock.close().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
} catch (error) {
  console.error(`the mock cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
