import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadCertificate } from './certificate.ts';
import { ExamplesFolder } from './record/examples-folder.ts';
import { readScenario } from './scenario.ts';
import type { MockOptions } from './server.ts';

const certificateFolder = fileURLToPath(
  new URL('../../node_modules/.cache/mock-certificate', import.meta.url),
);
const megabyte = 1024 * 1024;
const options = {
  port: { type: 'string', default: '4010' },
  host: { type: 'string', default: '127.0.0.1' },
  'task-seconds': { type: 'string', default: '3' },
  tls: { type: 'boolean', default: false },
  'callback-secret': { type: 'string' },
  scenario: { type: 'string' },
  dynamic: { type: 'boolean', default: false },
  seed: { type: 'string' },
  examples: { type: 'string' },
  record: { type: 'string' },
  key: { type: 'string' },
  'record-limit': { type: 'string', default: '5' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/**
 * Parses the command line. Returns undefined for `--help`.
 *
 * @throws Error that names the flag and its limit
 */
export async function readFlags(args: string[], env: NodeJS.ProcessEnv): Promise<MockOptions | undefined> {
  const { values } = parseArgs({ args, options });
  if (values.help) return undefined;
  const { record, examples } = values;
  const port = number(
    '--port',
    values.port,
    'a port from 0 to 65535',
    (value) => value >= 0 && value <= 65_535,
  );
  if (!Number.isInteger(port)) throw new Error(`--port ${values.port} is not a port from 0 to 65535`);
  const day = 86_400;
  const seconds = number(
    '--task-seconds',
    values['task-seconds'],
    'a number of seconds up to a day',
    upTo(day),
  );
  const limit = number(
    '--record-limit',
    values['record-limit'],
    'a number of megabytes up to 100',
    upTo(100),
  );
  if (values.seed !== undefined && values.seed === '') throw new Error('--seed is empty');
  if (record === undefined && values.key !== undefined) throw new Error('--key requires --record');
  const gatewayUrl = record === undefined ? undefined : parseUrl(record);
  if (gatewayUrl !== undefined && examples === undefined)
    throw new Error('--record requires --examples <folder>');
  const folder =
    examples === undefined
      ? undefined
      : await ExamplesFolder.open(examples, { create: gatewayUrl !== undefined });
  const key = values.key ?? env.UNIGATE_API_KEY;
  const callbackSecret = values['callback-secret'];
  return {
    port,
    host: values.host,
    taskMs: seconds * 1000,
    ...(callbackSecret !== undefined && { callbackSecret }),
    ...(values.scenario !== undefined && { scenario: await readScenario(values.scenario) }),
    ...(values.tls && { tls: await loadCertificate(certificateFolder, values.host) }),
    dynamic: values.dynamic,
    ...(values.seed !== undefined && { seed: values.seed }),
    ...(folder !== undefined && { examples: folder }),
    ...(gatewayUrl !== undefined &&
      folder !== undefined && {
        record: {
          gateway: gatewayUrl,
          key,
          limit: limit * megabyte,
          folder,
          log: (line) => console.error(line),
        },
      }),
  };
}

const upTo = (max: number) => (value: number) => value > 0 && value <= max;

function number(
  flag: string,
  text: string,
  description: string,
  isValid: (value: number) => boolean,
): number {
  const value = Number(text);
  if (text.trim() === '' || !isValid(value)) throw new Error(`${flag} ${text} is not ${description}`);
  return value;
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.username !== '')
    throw new Error(`--record ${text} is not an http or https URL`);
  return url.href.replace(/\/$/, '');
}
