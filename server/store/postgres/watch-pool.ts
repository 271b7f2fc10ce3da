import type { Attributes } from '@opentelemetry/api';
import type pg from 'pg';
import type { Gauge } from '../../telemetry/instruments.ts';
import { connectionCount, connectionMax, connectionsPending } from '../../telemetry/metrics.ts';

/** Reports the connections of a pool as metrics, until the pool ends. */
export function watchPool(name: string, pool: pg.Pool): void {
  const about: Attributes = { 'db.client.connection.pool.name': name };
  const inState = (state: string) => ({ ...about, 'db.client.connection.state': state });
  const [used, idle] = [inState('used'), inState('idle')];
  const watch = (gauge: Gauge, read: () => readonly (readonly [number, Attributes])[]) => {
    const stop = gauge.addCallback(() => {
      if (!pool.ended) return read();
      stop();
      return [];
    });
  };
  watch(connectionCount, () => [
    [pool.totalCount - pool.idleCount, used],
    [pool.idleCount, idle],
  ]);
  watch(connectionMax, () => [[pool.options.max ?? 0, about]]);
  watch(connectionsPending, () => [[pool.waitingCount, about]]);
}
