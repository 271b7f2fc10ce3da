import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { generateKey } from '../../server/store/keys.ts';
import { GatewayProcess } from '../faults/gateway-process.ts';
import { databaseUrl, onServer } from '../store/engines.ts';

const clockModule = fileURLToPath(new URL('shifted-clock.ts', import.meta.url));
const dayMs = 86_400_000;

/** Two gateways that share a database and a calendar, which the test sets. */
export class Deployment {
  readonly adminKey: string = generateKey();
  readonly #dataDir: string;
  readonly #schema: string;
  readonly #nodes: GatewayProcess[] = [];
  #shiftMs = 0;

  private constructor(dataDir: string, schema: string) {
    this.#dataDir = dataDir;
    this.#schema = schema;
  }

  static async create(): Promise<Deployment> {
    const schema = `test_${randomUUID().replaceAll('-', '')}`;
    await onServer((client) => client.query(`create schema ${schema}`));
    return new Deployment(await mkdtemp(join(tmpdir(), 'unigate-business-')), schema);
  }

  /** URLs of the running gateways. */
  get urls(): readonly string[] {
    return this.#nodes.map(({ url }) => url);
  }

  /** Writes the configuration. Running gateways load it when `reload` is called. */
  async configure(configuration: object): Promise<void> {
    // JSON is YAML.
    await writeFile(this.#config, JSON.stringify(configuration));
  }

  async startNode(): Promise<void> {
    await writeFile(this.#shiftFile, String(this.#shiftMs));
    const database = new URL(databaseUrl);
    database.searchParams.set('options', `-csearch_path=${this.#schema}`);
    const node = await GatewayProcess.start({
      dataDir: this.#dataDir,
      config: this.#config,
      databaseUrl: database.href,
      preload: clockModule,
      environment: { BOOTSTRAP_KEY: this.adminKey, CLOCK_SHIFT_FILE: this.#shiftFile },
    });
    this.#nodes.push(node);
  }

  /** Kills a gateway without warning. Resolves when its database sessions have ended. */
  async killNode(index: number): Promise<void> {
    const [node] = this.#nodes.splice(index, 1);
    node?.kill();
    await node?.waitForKill();
  }

  /** Sets the calendar of all gateways. */
  async setTime(time: number): Promise<void> {
    this.#shiftMs = time - Date.now();
    await writeFile(this.#shiftFile, String(this.#shiftMs));
    for (const node of this.#nodes) node.kill('SIGUSR2');
    const line = `calendar shifted by ${this.#shiftMs} ms`;
    await vi.waitFor(() => {
      for (const { output } of this.#nodes)
        if (!output.stdout.includes(line)) throw new Error('a gateway has not shifted its calendar');
    });
  }

  /** Sets the calendar to noon of a day, counted from 0, of the month that begins at `start`. */
  setDay(start: number, day: number): Promise<void> {
    return this.setTime(start + day * dayMs + dayMs / 2);
  }

  async remove(): Promise<void> {
    for (const node of this.#nodes) node.kill('SIGTERM');
    await Promise.all(this.#nodes.map(({ ended }) => ended));
    await rm(this.#dataDir, { recursive: true, force: true });
    await onServer((client) => client.query(`drop schema ${this.#schema} cascade`));
  }

  get #config(): string {
    return join(this.#dataDir, 'gateway.yaml');
  }

  get #shiftFile(): string {
    return join(this.#dataDir, 'clock-shift');
  }
}
