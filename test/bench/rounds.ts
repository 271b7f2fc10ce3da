import assert from 'node:assert/strict';
import { request } from 'undici';
import type { BenchCase } from './cases.ts';
import { gatewayKey } from './gateway.ts';
import type { LoadProcess, ServerProcess } from './processes.ts';

export const targetNames = ['direct', 'raw', 'gateway'] as const;
export type TargetName = (typeof targetNames)[number];

/** What one round measured. */
export interface Measurement {
  requestsPerSecond: number;
  /** Body bytes, without the frames of chunks. */
  bytesPerSecond: number;
  /** CPU of the process under test per request. */
  cpuMicroseconds: number;
  p50Ms: number;
  p99Ms: number;
  /** Share of their time that the load tool and the stub were busy: near 1, they were the limit. */
  othersBusy: number;
}

export interface RoundOptions {
  rounds: number;
  seconds: number;
  connections: number;
}

export interface CaseResult {
  bench: BenchCase;
  rounds: Readonly<Record<TargetName, readonly Measurement[]>>;
  /** One connection: latency without a queue. */
  unloaded: Readonly<Record<TargetName, Measurement>>;
}

/** Node's compiler takes seconds to settle. */
const warmUpSeconds: Readonly<Record<TargetName, number>> = { direct: 0.5, raw: 3, gateway: 3 };
const unloadedSeconds = 0.7;

/** Measures cases on the three targets, and counts the answers that each of them gave. */
export class Rounds {
  readonly answers: Record<TargetName, number> = { direct: 0, raw: 0, gateway: 0 };
  readonly #servers: Readonly<Record<TargetName, ServerProcess>>;
  readonly #load: LoadProcess;

  constructor(servers: Readonly<Record<TargetName, ServerProcess>>, load: LoadProcess) {
    this.#servers = servers;
    this.#load = load;
  }

  /** Interleaved rounds, so that a machine that is busy for a while disturbs all targets alike. */
  async measure(bench: BenchCase, { rounds, seconds, connections }: RoundOptions): Promise<CaseResult> {
    const lengths = await this.#each((name) => this.#checkOne(name, bench));
    await this.#each((name) => this.#round(name, bench, lengths[name], warmUpSeconds[name], connections));
    const measured: Record<TargetName, Measurement[]> = { direct: [], raw: [], gateway: [] };
    for (let round = 0; round < rounds; round += 1) {
      await this.#each(async (name) => {
        measured[name].push(await this.#round(name, bench, lengths[name], seconds, connections));
      });
    }
    const unloaded = await this.#each((name) => this.#round(name, bench, lengths[name], unloadedSeconds, 1));
    return { bench, rounds: measured, unloaded };
  }

  async #each<T>(work: (name: TargetName) => Promise<T>): Promise<Record<TargetName, T>> {
    const direct = await work('direct');
    const raw = await work('raw');
    const gateway = await work('gateway');
    return { direct, raw, gateway };
  }

  /** Looks into one answer; the length of its body is then demanded of all the others. */
  async #checkOne(name: TargetName, bench: BenchCase): Promise<number> {
    const { statusCode, headers, body } = await request(this.#servers[name].origin + bench.path, {
      method: 'POST',
      headers: requestHeaders(bench),
      body: JSON.stringify(bench.body),
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    assert.equal(
      statusCode,
      200,
      `${name} answers ${bench.title} with ${statusCode}: ${bytes.toString().slice(0, 500)}`,
    );
    bench.check(String(headers['content-type']), bytes);
    this.answers[name] += 1;
    return bytes.length;
  }

  async #round(
    name: TargetName,
    bench: BenchCase,
    bodyBytes: number,
    seconds: number,
    connections: number,
  ): Promise<Measurement> {
    const server = this.#servers[name];
    const stub = this.#servers.direct;
    const before = { server: await server.cpuMicroseconds(), stub: await stub.cpuMicroseconds() };
    const load = { port: server.port, request: requestText(bench), connections, seconds, bodyBytes };
    const result = await this.#load.run(load).catch((cause: unknown) => {
      throw new Error(`${name}, ${bench.title}: ${cause instanceof Error ? cause.message : String(cause)}`, {
        cause,
      });
    });
    const after = { server: await server.cpuMicroseconds(), stub: await stub.cpuMicroseconds() };
    this.answers[name] += result.answers;
    return {
      requestsPerSecond: result.answers / result.seconds,
      bytesPerSecond: (result.answers * bodyBytes) / result.seconds,
      cpuMicroseconds: (after.server - before.server) / result.answers,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      othersBusy: (after.stub - before.stub + result.cpuMicroseconds) / (result.seconds * 1e6),
    };
  }
}

function requestHeaders(bench: BenchCase): Record<string, string> {
  return {
    authorization: `Bearer ${gatewayKey}`,
    'content-type': 'application/json',
    ...bench.headers,
  };
}

function requestText(bench: BenchCase): string {
  const body = JSON.stringify(bench.body);
  const headers = { host: '127.0.0.1', ...requestHeaders(bench), 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${bench.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
