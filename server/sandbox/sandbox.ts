import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { CustomVoices } from './custom-voices/custom-voices.ts';
import { PromptLoader } from './custom-voices/prompt-audio.ts';
import type { Services, SocketTimeouts } from './http/exchange.ts';
import { FileStore } from './http/file-store.ts';
import { routeRequest, type SandboxLogger } from './http/routing.ts';
import { SocketServer } from './sockets/socket-server.ts';
import { SpeechEngine } from './speech/engine.ts';
import { espeakPackage } from './speech/espeak.ts';
import { Storage } from './storage.ts';
import { createTaskUpstream } from './task-upstream.ts';
import { embeddingRoutes } from './text/embedding-routes.ts';
import { messageRoutes } from './text/message-routes.ts';
import { verificationRoutes } from './verification/session-routes.ts';
import { VerificationSessions } from './verification/sessions.ts';

/** Bytes on disk. */
const fileCapacity = 1024 ** 3;

export type { SandboxLogger };

export interface SandboxOptions {
  /**
   * Where tasks, assets, voices and files are kept for the next start, of one sandbox at a time. Default: a temporary
   * folder, gone when the sandbox closes.
   */
  folder?: string;
  /** Default: the one of the last start in the same folder while it is free, since file URLs name it; else any. */
  port?: number;
  /** The one API key that the upstream accepts. */
  key: string;
  logger?: SandboxLogger;
  /** Threads that speak; they start with the first request. Default: one less than the cores, at least 1, at most 4. */
  speechWorkers?: number;
  /** Clock of the signed URLs and of the voices, milliseconds since the epoch. */
  now?: () => number;
  /** How long `[[slow]]` waits, in milliseconds. Default 2000. */
  slowness?: number;
  /** When a socket whose client is silent is closed, in milliseconds. Default: text 23,000 and idle 60,000. */
  timeouts?: Partial<SocketTimeouts>;
  /** How long a voice of voice-enrollment is DEPLOYING, in milliseconds. Default 1000. */
  voiceDeployment?: number;
  /** Fetch media from loopback and private networks, too. Default true: the sandbox itself runs there. */
  allowPrivateUrls?: boolean;
  /** How long a task takes, in milliseconds, a fifth of it in the queue; drawing may take longer. Default 3000. */
  taskTime?: number;
  /**
   * About how long a song is, in seconds; with many lines to sing up to a quarter longer. Default 30, less where tasks
   * take less than 3 seconds.
   */
  songSeconds?: number;
  /** Draw small and coarse files: for tests that make many of them. Default false. */
  draft?: boolean;
  /** Package of the speech engine. Without it every synthesis answers 503 ModelUnavailable, and songs are instrumental. */
  engine?: string;
}

export interface Sandbox {
  /** Base address of the HTTP routes, without a slash at the end. */
  url: string;
  /** Base address of the sockets. */
  wsUrl: string;
  key: string;
  close(): Promise<void>;
}

/** Starts the embedded upstream on 127.0.0.1: the vendors' protocols, with media and texts made offline. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { key, logger, slowness = 2000, now = steadyClock, allowPrivateUrls = true } = options;
  const storage = new Storage(options.folder);
  const server = createServer(
    { shouldUpgradeCallback: (request) => sockets.accepts(request) },
    (request: IncomingMessage, response: ServerResponse) => void routeRequest(context, request, response),
  );
  const port = await listen(server, storage, options.port).catch((error: unknown) => {
    storage.close();
    throw error;
  });
  const url = `http://127.0.0.1:${port}`;

  const services: Services = {
    engine: new SpeechEngine({
      module: options.engine ?? espeakPackage,
      workers: options.speechWorkers ?? Math.max(1, Math.min(4, availableParallelism() - 1)),
    }),
    files: new FileStore({ folder: 'files', storage, capacity: fileCapacity, now }),
    voices: new CustomVoices({ storage, now, deployment: options.voiceDeployment ?? 1000 }),
    prompts: new PromptLoader({ allowPrivateUrls, ownAddress: () => url }),
    now,
    slowness,
    timeouts: { text: 23_000, idle: 60_000, ...options.timeouts },
  };
  const tasks = createTaskUpstream({
    storage,
    now,
    allowPrivateUrls,
    draft: options.draft ?? false,
    ...(options.taskTime === undefined ? {} : { taskTime: options.taskTime }),
    ...(options.songSeconds === undefined ? {} : { songSeconds: options.songSeconds }),
    ...(options.engine === undefined ? {} : { speechEngine: options.engine }),
  });
  services.files.baseUrl = url;
  tasks.setAddress(url);
  const verification = verificationRoutes({
    sessions: new VerificationSessions({ storage, now }),
    baseUrl: () => url,
  });
  const routes = [...tasks.routes, ...embeddingRoutes, ...messageRoutes, ...verification];
  const context = { services, key, logger, routes };
  const sockets = new SocketServer(context);
  server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head));
  // Longer than the gateway's pools keep a connection idle, so that it is never closed under a request.
  server.keepAliveTimeout = 60_000;

  return {
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    key,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      sockets.close();
      server.closeAllConnections();
      await closed;
      // Before the engines: a task that they leave unfinished is begun again at the next start.
      storage.close();
      await tasks.close();
      await services.prompts.close();
      await services.engine.close();
    },
  };
}

/** Resolves with the port, in the turn in which the first request cannot have come yet. */
async function listen(server: Server, storage: Storage, wanted: number | undefined): Promise<number> {
  const known = storage.records<number>('port');
  const attempt = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve((server.address() as AddressInfo).port);
      });
    });
  const last = wanted ?? known.get('http') ?? 0;
  const port = await attempt(last).catch((error: NodeJS.ErrnoException) => {
    if (wanted !== undefined || last === 0 || error.code !== 'EADDRINUSE') throw error;
    return attempt(0);
  });
  known.put('http', port);
  return port;
}

/** Epoch milliseconds from when the process began, counted by a clock that never steps: tasks go by it. */
function steadyClock(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}
