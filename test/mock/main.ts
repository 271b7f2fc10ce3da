import type { Certificate } from './certificate.ts';
import { formatFaults, httpFaults } from './faults.ts';
import { readFlags } from './flags.ts';
import { startMock } from './server.ts';
import { scripts } from './sockets/scripts.ts';

/** `npm run mock -- [options]`: starts the mock server. */
const help = `npm run mock -- [--port 4010] [--host 127.0.0.1] [--task-seconds 3] [--tls] [--dynamic] [--seed 7]
    [--callback-secret SECRET] [--scenario FILE]
    [--examples FOLDER [--record GATEWAY_URL [--key KEY] [--record-limit 5]]] [--help]

Serves every path of the OpenAPI document and the sockets of the AsyncAPI document. Accepts any key. Validates requests like
the gateway. Speech, videos and 3D objects are small playable files, and streams are sent in chunks. A new task goes through
its states and completes. It fails if its prompt contains [[fail-late]]. Its states are delivered to its callback URL, signed
with --callback-secret. The ids of the examples always exist.
"Prefer: code=429" and "Prefer: code=200, example=queued" select a documented response. With --dynamic, stateless JSON
responses are generated from their schemas. The same --seed generates the same values. "Prefer: dynamic=true, seed=7" does
this for one request.

With --tls, it serves https and wss with a self-signed certificate, and prints how clients can trust it.

With --record, every HTTP request is forwarded to a gateway with --key or UNIGATE_API_KEY. Responses are stored in the folder
--examples without keys, tokens and file addresses. Bodies larger than --record-limit megabytes are not stored. With
--examples alone, the same requests get the stored responses.

With --scenario, the settings of the control page start with those of a YAML file.

These headers of a request override the settings of the control page /__mock/:
  x-mock-delay: 800     delay of the response in milliseconds
  x-mock-jitter: 200    maximum random delay in milliseconds, added to x-mock-delay
  x-mock-status: 429    a documented status, like "Prefer: code=429"
  x-mock-fault: drop    one of these faults:
${formatFaults(httpFaults)}

A socket accepts the same headers except the status. Browsers cannot set headers, so they use query parameters:
  ws://127.0.0.1:4010/v1/realtime?model=alpha3-tts-flash-realtime&mock_fault=drop&mock_delay=200
The delay applies before the handshake and before each frame is processed. Faults of sockets, which start after the first
audio chunk, except those of the handshake:
${formatFaults(scripts)}
`;

/** Explains how a client can trust the certificate. */
const trustAdvice = ({ file, fingerprint }: Certificate) => `certificate: ${file}
SHA-256 fingerprint: ${fingerprint}
A client must trust this certificate:
  Node.js   NODE_EXTRA_CA_CERTS=${file}
  Python    SSL_CERT_FILE=${file}
  curl      --cacert ${file}
  browsers  open the address once and accept the certificate with this fingerprint`;

try {
  const options = await readFlags(process.argv.slice(2), process.env);
  if (options === undefined) {
    console.log(help);
    process.exit(0);
  }
  const mock = await startMock(options);
  console.log(`mock listening on ${mock.url}`);
  if (options.tls !== undefined) console.log(trustAdvice(options.tls));
  const stop = () => void mock.close().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
} catch (error) {
  console.error(`the mock cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
