import type { Gateway } from './gateway.ts';
import { requireReady } from './operations/service/getReadiness.ts';
import type { Settings } from './settings/settings.ts';
import { openOperatorPort } from './telemetry/operator-port.ts';
import { watchProcess } from './telemetry/process-figures.ts';

/** What tells the operator how the gateway does. */
export interface Operator {
  /** Address of `/metrics`, without a slash at the end; undefined: there is none. */
  url: string | undefined;
  /** From now on the gateway itself says whether it is ready. */
  started(gateway: Gateway): void;
  close(): Promise<void>;
}

/**
 * Opens the operator's port, if it has one. What is loaded for that is loaded here.
 *
 * @throws SettingsError when the port cannot be opened.
 */
export async function startOperator({ metrics: place }: Settings): Promise<Operator> {
  if (place === undefined) return { url: undefined, started() {}, async close() {} };
  const { Metrics } = await import('./telemetry/meter.ts');
  const metrics = new Metrics({ 'service.name': 'unigate' });
  const stopProcess = watchProcess();
  let gateway: Gateway | undefined;
  const stop = async () => {
    stopProcess();
    await metrics.stop();
  };
  try {
    const port = await openOperatorPort(place, {
      metrics: () => metrics.text(),
      ready: async () => {
        if (gateway === undefined) throw new Error('The gateway starts.');
        await requireReady(gateway);
      },
    });
    return {
      url: port.url,
      started(running) {
        gateway = running;
      },
      async close() {
        await port.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
