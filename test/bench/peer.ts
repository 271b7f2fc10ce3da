import { request } from 'undici';
import { freePort } from '../support/free-port.ts';
import { type BenchCase, cases, characters } from './cases.ts';
import { noMemoryReducer, startGateway } from './gateway.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { speakable } from './payloads.ts';
import { here, LoadProcess, ServerProcess } from './processes.ts';
import { table } from './report.ts';
import { checkOne, measureLoad, requestText } from './rounds.ts';
import { median, type Target, target } from './verdict.ts';

/** Target ratio of requests per second to the peer. */
const minRatio = 5;
const warmUpSeconds = 5;

export interface PeerOptions {
  rounds: number;
  seconds: number;
  connections: number;
  server: string;
  /** Main module of the peer: `build/start-server.js` of `@portkey-ai/gateway`. */
  peer: string;
}

export interface PeerResult {
  title: string;
  /** Gateway relative to peer, median over the rounds. Undefined if the peer returns an error. */
  ratios: { requestsPerSecond: number; cpu: number } | undefined;
  peerStatus: number;
}

/** Returns the equivalent calls of the peer at its own paths. It calls the upstream once and has no ledger. */
const calls = (upstream: string): readonly { caseName: string; peerCall: PeerCall }[] => {
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/v1` };
  const message = { role: 'user', content: speakable(characters) };
  const speech = { model: 'x', input: speakable(characters), voice: 'x' };
  return [
    {
      caseName: 'json',
      peerCall: { path: '/v1/chat/completions', headers, body: { model: 'x', messages: [message] } },
    },
    { caseName: 'audio', peerCall: { path: '/v1/audio/speech', headers, body: speech } },
    {
      caseName: 'sse',
      peerCall: {
        path: '/v1/completions',
        headers,
        body: { model: 'x', prompt: speakable(characters), stream: true },
      },
    },
  ];
};

type PeerCall = Pick<BenchCase, 'path' | 'headers' | 'body'>;

/** Compares the gateway with another one written in TypeScript. */
export async function measurePeer(options: PeerOptions): Promise<PeerResult[]> {
  const { rounds, seconds, connections, server, peer } = options;
  const upstream = await ServerProcess.start({ module: here('upstream.ts'), core: 'others' });
  const load = new LoadProcess<LoadRequest, LoadResult>('load.ts');
  const gateway = await startGateway(server, upstream.origin, undefined);
  const other = await ServerProcess.start({
    module: peer,
    core: 'measured',
    nodeOptions: [noMemoryReducer],
    arguments: [`--port=${await freePort()}`, '--headless'],
    ready: /(http:\/\/localhost:\d+)/,
    // It reports an error for every audio response.
    showsErrors: 'at a failed start',
  });
  let responses = 0;
  try {
    const results: PeerResult[] = [];
    for (const { caseName, peerCall } of calls(upstream.origin)) {
      const bench = cases.find(({ name }) => name === caseName);
      if (bench === undefined) throw new Error(`there is no case ${caseName}`);
      const probe = await send(other, peerCall);
      const { title } = bench;
      if (probe.status !== 200) {
        results.push({ title, ratios: undefined, peerStatus: probe.status });
        continue;
      }
      const bodyBytes = await checkOne('the gateway', gateway.server, bench);
      responses += 1;
      const round = async (of: ServerProcess, call: PeerCall, bytes: number, length: number) => {
        const request = requestText(call);
        const result = await measureLoad(load, of, {
          request,
          connections,
          seconds: length,
          bodyBytes: bytes,
        });
        if (of === gateway.server) responses += result.responses;
        return { requests: result.requestsPerSecond, cpu: result.serverCpu };
      };
      await round(gateway.server, bench, bodyBytes, warmUpSeconds);
      await round(other, peerCall, probe.bytes, warmUpSeconds);
      const pairs = [];
      for (let index = 0; index < rounds; index += 1) {
        const gatewayRound = await round(gateway.server, bench, bodyBytes, seconds);
        pairs.push({ own: gatewayRound, peer: await round(other, peerCall, probe.bytes, seconds) });
      }
      const ratios = {
        requestsPerSecond: median(pairs.map((pair) => pair.own.requests / pair.peer.requests)),
        cpu: median(pairs.map((pair) => pair.own.cpu / pair.peer.cpu)),
      };
      results.push({ title, ratios, peerStatus: 200 });
    }
    await gateway.stop({ responses, charged: responses * characters });
    await Promise.all([upstream.stop(), other.stop(), load.stop()]);
    return results;
  } finally {
    await gateway.remove();
  }
}

async function send(server: ServerProcess, { path, headers, body }: PeerCall) {
  const response = await request(server.origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer x', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.statusCode, bytes: (await response.body.arrayBuffer()).byteLength };
}

export function peerTargets(results: readonly PeerResult[]): Target[] {
  return results.flatMap(({ title, ratios }) =>
    ratios === undefined
      ? []
      : [target(`${title}: requests/s, gateway / peer`, ratios.requestsPerSecond, 'at least', minRatio)],
  );
}

export function peerMarkdown(results: readonly PeerResult[]): string {
  return table(
    ['gateway / peer', 'requests/s', 'CPU per request', 'status of the peer'],
    results.map(({ title, ratios, peerStatus }) => [
      title,
      ratios?.requestsPerSecond.toFixed(2) ?? '',
      ratios?.cpu.toFixed(2) ?? '',
      String(peerStatus),
    ]),
  );
}
