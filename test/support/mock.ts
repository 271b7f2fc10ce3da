import { parseArgs } from 'node:util';
import { scriptLines } from './mock-sockets/scripts.ts';
import { startMock } from './prism.ts';

/**
 * `npm run mock -- [--port 4010] [--host 127.0.0.1] [--help]`: a stateless server that answers from the contract's
 * examples, over HTTP and both sockets.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4010' },
    host: { type: 'string', default: '127.0.0.1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const help = `npm run mock -- [--port 4010] [--host 127.0.0.1] [--help]

Answers every path of the OpenAPI document and plays the sockets of the AsyncAPI document. Any key is good.

A socket plays an error script named in its handshake, as in
  ws://127.0.0.1:4010/v1/realtime?model=alpha3-tts-flash-realtime&mock_script=drop
or in the header x-mock-script. All but the refusals begin after the first piece of audio:

${scriptLines()}
`;

if (values.help) {
  console.log(help);
  process.exit(0);
}

try {
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port ${values.port} is not a port`);
  const mock = await startMock({ port, host: values.host });
  console.log(`mock listening on ${mock.url}`);
  const stop = () => void mock.close().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
} catch (error) {
  console.error(`the mock cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
