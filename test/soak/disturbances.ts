import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { onServer } from '../store/engines.ts';
import type { Customers } from './customers.ts';
import type { Evidence, SoakKey } from './evidence.ts';
import type { Node } from './node.ts';

export interface DisturbancesParts {
  nodes: readonly Node[];
  customers: Customers;
  evidence: Evidence;
  random: () => number;
  /** The configuration file of all gateways. */
  config: string;
  /** The database that they share; undefined: SQLite. */
  database: string | undefined;
  /** Whether each of them is several processes. */
  several: boolean;
}

/** A key that was deleted may be taken for so long, in milliseconds: a second, and what a busy machine adds. */
const believedMs = 15_000;

/** What happens to gateways and keys while customers are at work, one thing at a time. */
export class Disturbances {
  readonly #parts: DisturbancesParts;

  constructor(parts: DisturbancesParts) {
    this.#parts = parts;
  }

  /** Something every few seconds, for so many milliseconds; with `kills`, gateways are killed and started again too. */
  async go(ms: number, kills: boolean): Promise<void> {
    const { random, database, several } = this.#parts;
    const until = performance.now() + ms;
    const kill = kills ? [() => this.#kill()] : [];
    const killWorker = kills && several ? [() => this.#killWorker()] : [];
    const all = [
      ...kill,
      ...(database === undefined ? [] : [() => this.#cutOff(database)]),
      () => this.#reload(),
      ...killWorker,
      ...kill,
      () => this.#revoke(),
    ];
    for (let turn = 0; ; turn += 1) {
      const wait = Math.min(ms * 0.2, 1_000 + random() * 4_000);
      if (performance.now() + wait > until) return;
      await pause(wait);
      await all[turn % all.length]?.();
    }
  }

  async #kill(): Promise<void> {
    const { nodes, random } = this.#parts;
    await nodes[Math.floor(random() * nodes.length)]?.killAndStart();
  }

  async #killWorker(): Promise<void> {
    const { nodes, random } = this.#parts;
    await nodes[Math.floor(random() * nodes.length)]?.killWorker(random());
  }

  /** Every connection that gateways have to the database breaks. */
  async #cutOff(database: string): Promise<void> {
    const { nodes, evidence } = this.#parts;
    const names = nodes.map(({ session }) => session);
    const sql = 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = any($1)';
    await onServer((client) => client.query(sql, [names]), database);
    evidence.count('database', 'all connections cut off');
  }

  /** Another weight for each channel, so that all of them are made anew. */
  async #reload(): Promise<void> {
    const { config, nodes, evidence, random } = this.#parts;
    const settings = JSON.parse(await readFile(config, 'utf8')) as { channels: { weight?: number }[] };
    for (const channel of settings.channels) channel.weight = 1 + Math.floor(random() * 9);
    await writeFile(`${config}.new`, JSON.stringify(settings));
    await rename(`${config}.new`, config);
    for (const node of nodes) node.reload();
    evidence.count('configuration', 'reloaded');
  }

  /** The key that is being spent from is deleted, by itself: soon no gateway takes it any more. */
  async #revoke(): Promise<void> {
    const { customers, evidence } = this.#parts;
    const key = customers.inUse;
    if (key === undefined) return;
    key.revoked = true;
    const until = performance.now() + believedMs;
    const ask = { kind: 'deletion of a key', method: 'DELETE', path: `/api/token/${key.id}` } as const;
    // Cut off or refused while something else was disturbed: it may have been deleted, or not.
    for (;;) {
      const status = await customers.ask(ask, key);
      if (status === 200 || status === 401) break;
      if (performance.now() > until) return evidence.fault(ask.kind, `key ${key.id} could not be deleted`);
      await pause(200);
    }
    for (const node of this.#parts.nodes) await this.#untilRefused(node, key);
  }

  async #untilRefused(node: Node, key: SoakKey): Promise<void> {
    const { customers, evidence } = this.#parts;
    const ask = { kind: 'deleted key', method: 'GET', path: '/v1/models' } as const;
    const until = performance.now() + believedMs;
    while ((await customers.ask(ask, key, node)) !== 401) {
      if (performance.now() > until)
        return evidence.fault(ask.kind, `key ${key.id} is still taken ${believedMs} ms after it was deleted`);
      await pause(200);
    }
  }
}
