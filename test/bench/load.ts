import { connect, type Socket } from 'node:net';
import { ResponseReader } from './response-reader.ts';

// The load tool: a process that runs rounds on request of its parent and reports each.

export interface LoadRequest {
  port: number;
  /** Head and body of the request. */
  request: string;
  connections: number;
  seconds: number;
  /** Expected length of every response body. */
  bodyBytes: number;
}

export interface LoadResult {
  responses: number;
  /** From the first request to the last response. */
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU of the load tool in microseconds. */
  cpuMicroseconds: number;
}

process.on('message', (round: LoadRequest) => {
  run(round).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});

/** @throws Error at the first response that is not a 200 of the expected length */
async function run(round: LoadRequest): Promise<LoadResult> {
  const request = Buffer.from(round.request);
  const sockets = await Promise.all(Array.from({ length: round.connections }, () => open(round.port)));
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const deadline = startedAt + round.seconds * 1000;
  const latencies: number[] = [];
  try {
    await Promise.all(
      sockets.map((socket) => sendRequests(socket, request, round.bodyBytes, deadline, latencies)),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const sorted = Float64Array.from(latencies).sort();
  const percentile = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return {
    responses: sorted.length,
    seconds,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    cpuMicroseconds: user + system,
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** Sends requests sequentially on a connection until the deadline. Waits for the last response. */
function sendRequests(
  socket: Socket,
  request: Buffer,
  bodyBytes: number,
  deadline: number,
  latencies: number[],
) {
  return new Promise<void>((resolve, reject) => {
    let sentAt = performance.now();
    const reader = new ResponseReader((status, length) => {
      const now = performance.now();
      if (status !== 200 || length !== bodyBytes) {
        reject(new Error(`a response is ${status} with ${length} bytes instead of 200 with ${bodyBytes}`));
        return;
      }
      latencies.push(now - sentAt);
      if (now >= deadline) {
        resolve();
        return;
      }
      sentAt = now;
      socket.write(request);
    });
    socket.on('data', (data: Buffer) => {
      try {
        reader.read(data);
      } catch (error) {
        reject(error);
      }
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
    socket.write(request);
  });
}
