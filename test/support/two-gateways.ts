import type { Settings } from '../../server/settings/settings.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';

/** Two gateways of one database on PostgreSQL. On SQLite, the same gateway twice. */
export interface TwoGateways {
  target: TestGateway;
  other: TestGateway;
  close(): Promise<void>;
}

/** Starts them. `change` overrides settings of both, and `clock` their clock. */
export async function startTwoGateways(
  engine: 'sqlite' | 'postgres',
  change: Partial<Settings> = {},
  clock: () => number = Date.now,
): Promise<TwoGateways> {
  const target = await startTestGateway(change, engine, clock);
  const { databaseUrl, bootstrapKey } = target.gateway.settings;
  const other =
    engine === 'sqlite'
      ? target
      : await startTestGateway({ ...change, databaseUrl, bootstrapKey }, 'sqlite', clock);
  return {
    target,
    other,
    async close() {
      // The gateway that drops the schema closes last.
      if (other !== target) await other.close();
      await target.close();
    },
  };
}

/** Sends a request with a key. Returns the status and the text of the response. */
export async function sendTo(
  { url }: Pick<TestGateway, 'url'>,
  key: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, text: await response.text() };
}

/** Returns `data` of a response of a management operation. */
export const dataIn = <Data>({ text }: { text: string }): Data => (JSON.parse(text) as { data: Data }).data;
