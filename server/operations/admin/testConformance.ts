import { operations } from '../../../generated/operations.ts';
import { bearerKey } from '../../http/authenticate.ts';
import type { Gateway } from '../../http/gateway.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { Failure, invalid } from '../../lib/failure.ts';
import { checkCallbackUrl } from '../../tasks/callbacks/callback-url.ts';
import { changeBy } from './admin-change.ts';
import { ConformanceRun } from './conformance-run.ts';

type Request = OperationRequest<'testConformance'>;

/** Longest run, in milliseconds. */
const limitMs = 30 * 60_000;
const retryAfter = 10;

/** Gateways of this process with a run. */
const active = new WeakSet<Gateway>();

/** Runs the conformance kit against a server and streams the results. */
export const testConformance: Handler<'testConformance'> = async (request, reply) => {
  const { gateway, body, signal } = request;
  const { only = [], runs = 5, seed, triggers = 'auto', admin = false } = body;
  const { baseUrl, key, exempt } = targetOf(request);
  const names = new Set<string>(Object.entries(operations).flatMap(([id, { area }]) => [id, area]));
  const unknown = only.find((name) => !names.has(name));
  if (unknown !== undefined)
    throw invalid('only', `${unknown} is neither an operation of the contract nor an area.`);
  const kit = ConformanceRun.findKit();
  if (kit === undefined)
    throw new Failure(
      404,
      'conformance_kit_missing',
      'The conformance kit is not installed. Install the package @unigate/conformance beside the gateway.',
    );
  const release = await acquireRun(gateway);
  let run: ConformanceRun | undefined;
  try {
    const details = { base_url: baseUrl, only };
    const subject = 'conformance';
    await gateway.store.run('recordChange', { ...changeBy(request, 'testConformance'), subject, details });
    signal.throwIfAborted();
    run = new ConformanceRun({
      kit,
      key,
      exempt,
      args: [
        `--base-url=${baseUrl}`,
        ...only.map((name) => `--only=${name}`),
        `--runs=${runs}`,
        ...(seed === undefined ? [] : [`--seed=${seed}`]),
        `--triggers=${triggers}`,
        ...(admin ? ['--admin'] : []),
      ],
      limitMs,
      timers: gateway.timers,
      logger: gateway.logger,
    });
    signal.addEventListener('abort', () => run?.stop(), { once: true });
    await reply.stream(200, 'text/event-stream', run.events());
  } finally {
    // A stopped run still deletes what it created.
    run?.stop();
    void (run?.ended ?? Promise.resolve()).finally(release);
  }
};

/** @throws Failure 400 for an address that may not be tested */
function targetOf({ gateway, body, headers }: Request) {
  const { settings, localUrl } = gateway;
  const own = ownOrigins(gateway);
  const exempt = settings.callbacks.allowPrivate ? undefined : own.map(hostAndPort);
  const address = body.base_url ?? (settings.tls && settings.publicUrl ? settings.publicUrl : localUrl);
  const allowPrivate = settings.callbacks.allowPrivate || own.includes(URL.parse(address)?.origin ?? '');
  const baseUrl = checkCallbackUrl(address, 'base_url', { ...settings.callbacks, allowPrivate });
  if (URL.parse(baseUrl)?.search !== '') throw invalid('base_url', 'must not contain a query.');
  const key = body.api_key ?? bearerKey(headers) ?? '';
  return { baseUrl, key, exempt };
}

/** The addresses at which this machine reaches the gateway. */
function ownOrigins({ settings: { publicUrl }, localUrl }: Gateway): string[] {
  const local = ['127.0.0.1', 'localhost', '[::1]'].map((hostname) =>
    Object.assign(new URL(localUrl), { hostname }),
  );
  return [new URL(localUrl), ...local, ...(publicUrl === undefined ? [] : [new URL(publicUrl)])].map(
    ({ origin }) => origin,
  );
}

function hostAndPort(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `${hostname.replace(/^\[|\]$/g, '')}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/**
 * Returns a function that ends the run.
 *
 * @throws Failure 429 if the gateway, with all its workers, already has a run
 */
async function acquireRun(gateway: Gateway): Promise<() => void> {
  const { siblings } = gateway;
  const isFree = !active.has(gateway);
  active.add(gateway);
  // Without its primary a worker is alone.
  const isAlone = isFree && ((await siblings?.acquireRun().catch(() => true)) ?? true);
  if (isAlone)
    return () => {
      active.delete(gateway);
      siblings?.releaseRun().catch(() => {});
    };
  if (isFree) active.delete(gateway);
  const message = `This gateway already has a conformance run. Repeat after ${retryAfter} seconds.`;
  throw new Failure(429, 'rate_limit_exceeded', message, { retryAfter });
}
