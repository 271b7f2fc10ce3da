import assert from 'node:assert/strict';
import { request } from 'undici';
import type { BenchCase } from './cases.ts';
import { gatewayKey } from './gateway.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import type { LoadProcess, ServerProcess } from './processes.ts';
import type { TargetName, Targets } from './targets.ts';

/** Results of one round. */
export interface Measurement {
  /** Number of the process under test among those of its target. */
  process: number;
  requestsPerSecond: number;
  /** Body bytes without chunk framing. */
  bytesPerSecond: number;
  /** CPU time of the process under test per request. */
  cpuMicroseconds: number;
  /** CPU time of the stub per request. */
  stubCpuMicroseconds: number;
  /** CPU time of the load tool per request. */
  loadCpuMicroseconds: number;
  p50Ms: number;
  p99Ms: number;
  /** Utilization of the load tool and the stub. Near 1, they were the bottleneck. */
  othersBusy: number;
}

export interface RoundOptions {
  /** Of each process. */
  rounds: number;
  seconds: number;
  connections: number;
}

export interface CaseResult {
  bench: BenchCase;
  rounds: Readonly<Record<TargetName, readonly Measurement[]>>;
  /** Results with one connection: latency without queueing. */
  unloaded: Readonly<Record<TargetName, Omit<Measurement, 'process'>>>;
}

/** The warm-up of the compiler ends when the last rounds are at most 5 % faster than all before. It has plateaus of several rounds. */
const warmUp = { rounds: { least: 10, most: 30 }, lastRounds: 5, maxGain: 1.05 };
const unloadedSeconds = 0.7;

/** Measures cases on the three targets, and counts the responses of each process. */
export class Rounds {
  readonly #responses = new Map<ServerProcess, number>();
  readonly #targets: Targets;
  readonly #load: LoadProcess<LoadRequest, LoadResult>;

  constructor(targets: Targets, load: LoadProcess<LoadRequest, LoadResult>) {
    this.#targets = targets;
    this.#load = load;
  }

  responsesOf(server: ServerProcess): number {
    return this.#responses.get(server) ?? 0;
  }

  /**
   * Measures a case in interleaved rounds, so that a temporary load affects all targets equally. Each round uses the next
   * process of a target.
   */
  async measure(bench: BenchCase, { rounds, seconds, connections }: RoundOptions): Promise<CaseResult> {
    const lengths = await this.#targets.each(async (name) => {
      let length = 0;
      for (const server of this.#targets.all(name)) {
        length = await checkOne(name, server, bench);
        this.#count(server, 1);
        await this.#warmUp(server, bench, length, connections);
      }
      return length;
    });
    const results: Record<TargetName, Measurement[]> = { direct: [], raw: [], gateway: [] };
    for (let round = 0; round < rounds * this.#targets.all('gateway').length; round += 1) {
      await this.#targets.each(async (name) => {
        const server = this.#targets.select(name, round);
        const result = await this.#round(server, bench, lengths[name], seconds, connections);
        results[name].push({ ...result, process: this.#targets.numberIn(name, round) });
      });
    }
    const unloaded = await this.#targets.each((name) =>
      this.#round(this.#targets.select(name, 0), bench, lengths[name], unloadedSeconds, 1),
    );
    return { bench, rounds: results, unloaded };
  }

  async #warmUp(server: ServerProcess, bench: BenchCase, bodyBytes: number, connections: number) {
    const speeds: number[] = [];
    while (speeds.length < warmUp.rounds.most) {
      const { requestsPerSecond } = await this.#round(server, bench, bodyBytes, 1, connections);
      speeds.push(requestsPerSecond);
      const last = Math.max(...speeds.slice(-warmUp.lastRounds));
      const before = Math.max(...speeds.slice(0, -warmUp.lastRounds));
      if (speeds.length >= warmUp.rounds.least && last < before * warmUp.maxGain) return;
    }
  }

  #count(server: ServerProcess, responses: number): void {
    this.#responses.set(server, this.responsesOf(server) + responses);
  }

  async #round(
    server: ServerProcess,
    bench: BenchCase,
    bodyBytes: number,
    seconds: number,
    connections: number,
  ): Promise<Omit<Measurement, 'process'>> {
    const { stub } = this.#targets;
    const stubBefore = await stub.cpuMicroseconds();
    const load = { request: requestText(bench), connections, seconds, bodyBytes };
    const result = await measureLoad(this.#load, server, load).catch((cause: unknown) => {
      throw new Error(
        `${bench.title} at ${server.origin}: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    });
    const stubCpu = (await stub.cpuMicroseconds()) - stubBefore;
    this.#count(server, result.responses);
    return {
      requestsPerSecond: result.requestsPerSecond,
      bytesPerSecond: (result.responses * bodyBytes) / result.seconds,
      cpuMicroseconds: result.serverCpu,
      stubCpuMicroseconds: stubCpu / result.responses,
      loadCpuMicroseconds: result.cpuMicroseconds / result.responses,
      p50Ms: result.p50Ms,
      p99Ms: result.p99Ms,
      othersBusy: (stubCpu + result.cpuMicroseconds) / (result.seconds * 1e6),
    };
  }
}

/** Runs a load on a server. `serverCpu` is the CPU time of the server per response, in microseconds. */
export async function measureLoad(
  load: LoadProcess<LoadRequest, LoadResult>,
  server: ServerProcess,
  request: Omit<LoadRequest, 'port'>,
): Promise<LoadResult & { requestsPerSecond: number; serverCpu: number }> {
  const before = await server.cpuMicroseconds();
  const result = await load.run({ ...request, port: server.port });
  const serverCpu = ((await server.cpuMicroseconds()) - before) / result.responses;
  return { ...result, requestsPerSecond: result.responses / result.seconds, serverCpu };
}

/** Checks one response. Returns the length of its body, which all other responses must have. */
export async function checkOne(name: string, server: ServerProcess, bench: BenchCase): Promise<number> {
  const { statusCode, headers, body } = await request(server.origin + bench.path, {
    method: 'POST',
    headers: requestHeaders(bench),
    body: JSON.stringify(bench.body),
  });
  const bytes = Buffer.from(await body.arrayBuffer());
  assert.equal(
    statusCode,
    200,
    `${name} returns for ${bench.title}: ${statusCode}: ${bytes.toString().slice(0, 500)}`,
  );
  bench.check(String(headers['content-type']), bytes);
  return bytes.length;
}

function requestHeaders(bench: Pick<BenchCase, 'headers'>): Record<string, string> {
  return {
    authorization: `Bearer ${gatewayKey}`,
    'content-type': 'application/json',
    ...bench.headers,
  };
}

/** Returns the head and body of a request. */
export function requestText(bench: Pick<BenchCase, 'path' | 'headers' | 'body'>): string {
  const body = JSON.stringify(bench.body);
  const headers = { host: '127.0.0.1', ...requestHeaders(bench), 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${bench.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
