import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { onServer } from '../store/engines.ts';
import type { SoakClients } from './clients.ts';
import type { GatewayNode } from './node.ts';
import type { Recorder, SoakKey } from './recorder.ts';

export interface FaultInjectorOptions {
  nodes: readonly GatewayNode[];
  clients: SoakClients;
  recorder: Recorder;
  random: () => number;
  /** The configuration file of all gateways. */
  config: string;
  /** URL of the shared PostgreSQL database. Undefined: SQLite. */
  database: string | undefined;
  /** Whether each gateway has several processes. */
  hasWorkers: boolean;
}

/** How long a deleted key may still be accepted: one second, plus the delay of a busy machine. */
const maxRevocationMs = 15_000;

/** Injects faults into gateways and keys under load, one at a time. */
export class FaultInjector {
  readonly #options: FaultInjectorOptions;

  constructor(parts: FaultInjectorOptions) {
    this.#options = parts;
  }

  /** Injects a fault every few seconds for `ms`. With `kills`, it also kills and restarts gateways. */
  async run(ms: number, kills: boolean): Promise<void> {
    const { random, database, hasWorkers } = this.#options;
    const deadline = performance.now() + ms;
    const kill = kills ? [() => this.#kill()] : [];
    const killWorker = kills && hasWorkers ? [() => this.#killWorker()] : [];
    const all = [
      ...kill,
      ...(database === undefined ? [] : [() => this.#dropDatabaseConnections(database)]),
      () => this.#reload(),
      ...killWorker,
      ...kill,
      () => this.#revoke(),
    ];
    for (let round = 0; ; round += 1) {
      const wait = Math.min(ms * 0.2, 1_000 + random() * 4_000);
      if (performance.now() + wait > deadline) return;
      await delay(wait);
      await all[round % all.length]?.();
    }
  }

  async #kill(): Promise<void> {
    const { nodes, random } = this.#options;
    await nodes[Math.floor(random() * nodes.length)]?.killAndRestart();
  }

  async #killWorker(): Promise<void> {
    const { nodes, random } = this.#options;
    await nodes[Math.floor(random() * nodes.length)]?.killWorker(random());
  }

  /** Terminates all database connections of the gateways. */
  async #dropDatabaseConnections(database: string): Promise<void> {
    const { nodes, recorder } = this.#options;
    const names = nodes.map(({ applicationName }) => applicationName);
    const sql = 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = any($1)';
    await onServer((client) => client.query(sql, [names]), database);
    recorder.countOutcome('database', 'all connections terminated');
  }

  /** Changes the weight of each channel, so that a reload creates all of them again. */
  async #reload(): Promise<void> {
    const { config, nodes, recorder, random } = this.#options;
    const settings = JSON.parse(await readFile(config, 'utf8')) as { channels: { weight?: number }[] };
    for (const channel of settings.channels) channel.weight = 1 + Math.floor(random() * 9);
    await writeFile(`${config}.new`, JSON.stringify(settings));
    await rename(`${config}.new`, config);
    for (const node of nodes) node.reload();
    recorder.countOutcome('configuration', 'reloaded');
  }

  /** Deletes the small key in use with that key itself. All gateways must refuse it soon. */
  async #revoke(): Promise<void> {
    const { clients, recorder } = this.#options;
    const key = clients.activeKey;
    if (key === undefined) return;
    key.revoked = true;
    const deadline = performance.now() + maxRevocationMs;
    const request = { kind: 'deletion of a key', method: 'DELETE', path: `/api/token/${key.id}` } as const;
    // After an interrupted request, the key may be deleted or not.
    for (;;) {
      const status = await clients.send(request, key);
      if (status === 200 || status === 401) break;
      if (performance.now() > deadline)
        return recorder.recordFault(request.kind, `key ${key.id} could not be deleted`);
      await delay(200);
    }
    for (const node of this.#options.nodes) await this.#waitUntilRefused(node, key);
  }

  async #waitUntilRefused(node: GatewayNode, key: SoakKey): Promise<void> {
    const { clients, recorder } = this.#options;
    const request = { kind: 'deleted key', method: 'GET', path: '/v1/models' } as const;
    const deadline = performance.now() + maxRevocationMs;
    while ((await clients.send(request, key, node)) !== 401) {
      if (performance.now() > deadline)
        return recorder.recordFault(
          request.kind,
          `key ${key.id} is still accepted ${maxRevocationMs} ms after its deletion`,
        );
      await delay(200);
    }
  }
}
