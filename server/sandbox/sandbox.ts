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

/** Maximum size of the audio files on disk, in bytes. */
const maxFileBytes = 1024 ** 3;

export type { SandboxLogger };

export interface SandboxOptions {
  /**
   * Folder for tasks, assets, voices and files. Only one sandbox at a time can use it. Default: a temporary folder that
   * is deleted on close.
   */
  folder?: string;
  /**
   * Default: the port of the last start in the same folder if it is free, because file URLs contain it. Otherwise any
   * free port.
   */
  port?: number;
  /** The API key that the upstream accepts. */
  key: string;
  logger?: SandboxLogger;
  /**
   * Number of speech threads, which start on demand. Default: one less than the number of cores, at least 1, at most 4.
   */
  speechWorkers?: number;
  /** Clock for signed URLs, voices and tasks, in milliseconds since the epoch. */
  now?: () => number;
  /** Delay of the trigger `[[slow]]`, in milliseconds. Default 2000. */
  slowDelayMs?: number;
  /** Timeouts after which an inactive socket is closed, in milliseconds. Default: text 23,000 and idle 60,000. */
  timeoutsMs?: Partial<SocketTimeouts>;
  /** Time that a voice of voice-enrollment is DEPLOYING, in milliseconds. Default 1000. */
  voiceDeploymentMs?: number;
  /** Allow media URLs in loopback and private networks. Default true, because the sandbox itself runs there. */
  allowPrivateUrls?: boolean;
  /** Duration of a task in milliseconds, a fifth of it in the queue. Rendering can take longer. Default 3000. */
  taskDurationMs?: number;
  /**
   * Approximate length of a song in seconds. Songs with many lyrics are up to a quarter longer. Default 30, less if
   * tasks are shorter than 3 seconds.
   */
  songSeconds?: number;
  /** Render small, low-quality files, for tests that render many of them. Default false. */
  draft?: boolean;
  /**
   * Package of the speech engine. Without it, speech requests fail with 503 ModelUnavailable and songs are
   * instrumental.
   */
  engine?: string;
}

export interface Sandbox {
  /** Base URL of the HTTP routes, without a trailing slash. */
  url: string;
  /** Base URL of the WebSocket routes. */
  wsUrl: string;
  key: string;
  close(): Promise<void>;
}

/**
 * Starts the embedded upstream on 127.0.0.1. It implements the providers' protocols and generates media and text
 * offline.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { key, logger, slowDelayMs = 2000, now = monotonicNow, allowPrivateUrls = true } = options;
  const storage = new Storage(options.folder);
  const server = createServer(
    { shouldUpgradeCallback: (request) => sockets.canUpgrade(request) },
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
    files: new FileStore({ folder: 'files', storage, maxBytes: maxFileBytes, now }),
    voices: new CustomVoices({ storage, now, deploymentMs: options.voiceDeploymentMs ?? 1000 }),
    prompts: new PromptLoader({ allowPrivateUrls, ownOrigin: () => url }),
    now,
    slowDelayMs,
    timeoutsMs: { text: 23_000, idle: 60_000, ...options.timeoutsMs },
  };
  const tasks = createTaskUpstream({
    storage,
    now,
    allowPrivateUrls,
    draft: options.draft ?? false,
    ...(options.taskDurationMs === undefined ? {} : { taskDurationMs: options.taskDurationMs }),
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
  // Longer than the idle timeout of the gateway's connection pools, so that the server never closes a connection that
  // is being reused.
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
      // Closed before the engines, so that a task interrupted by their shutdown is restarted at the next start.
      storage.close();
      await tasks.close();
      await services.prompts.close();
      await services.engine.close();
    },
  };
}

/** Starts listening and resolves with the port before the first request can arrive. */
async function listen(server: Server, storage: Storage, requestedPort: number | undefined): Promise<number> {
  const ports = storage.records<number>('port');
  const listenOn = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve((server.address() as AddressInfo).port);
      });
    });
  const preferredPort = requestedPort ?? ports.get('http') ?? 0;
  const port = await listenOn(preferredPort).catch((error: NodeJS.ErrnoException) => {
    if (requestedPort !== undefined || preferredPort === 0 || error.code !== 'EADDRINUSE') throw error;
    return listenOn(0);
  });
  ports.put('http', port);
  return port;
}

/** Returns epoch milliseconds from a monotonic clock, because task timing depends on it. */
function monotonicNow(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}
