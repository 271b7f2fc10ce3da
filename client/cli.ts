import { AdvisedError } from './commands/advice.ts';
import { showAsset, uploadAsset } from './commands/assets.ts';
import { type Command, type Invocation, parseCommandLine, UsageError } from './commands/command-line.ts';
import { cloneVoice, deleteVoice, designVoice, listOwnVoices } from './commands/custom-voices.ts';
import { makeImage } from './commands/image.ts';
import { makeModel3d } from './commands/model3d.ts';
import { listModels } from './commands/models.ts';
import { makeMusic, writeLyrics } from './commands/music.ts';
import { speak } from './commands/speak.ts';
import { printable, type Terminal } from './commands/terminal.ts';
import { usageText } from './commands/usage.ts';
import { makeVideo } from './commands/video.ts';
import { listVoices } from './commands/voices.ts';
import { APIError, RealtimeError, TaskFailedError } from './errors.ts';
import { Unigate } from './unigate.ts';

type Run = (
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
) => Promise<void>;

const commands: Readonly<Record<Command, Run>> = {
  speak,
  video: makeVideo,
  model3d: makeModel3d,
  music: makeMusic,
  lyrics: writeLyrics,
  image: makeImage,
  models: listModels,
  voices: listVoices,
  'voices clone': cloneVoice,
  'voices design': designVoice,
  'voices list': listOwnVoices,
  'voices delete': deleteVoice,
  'assets upload': uploadAsset,
  'assets show': showAsset,
};

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Runs the command line of this process. The exit code is that of `run`, or 130 or 143 after a signal. */
export async function main(version: string): Promise<void> {
  const stop = new AbortController();
  let stoppedWith: number | undefined;
  for (const [signal, code] of Object.entries(exitCodes)) {
    process.once(signal, () => {
      stoppedWith = code;
      stop.abort();
    });
  }
  // A reader that has had enough, such as `head`, is not a failure.
  process.stdout.on('error', (error) => {
    if (!isClosedPipe(error)) throw error;
  });
  const code = await run(process.argv.slice(2), process, version, stop.signal);
  process.exitCode = stoppedWith ?? code;
}

/**
 * Runs one command. Gives the exit code: 0 done, 1 the gateway, the network or a file failed, 2 the command line is
 * wrong. An error is one line on stderr and never shows the key.
 */
export async function run(
  args: string[],
  terminal: Terminal,
  version: string,
  signal: AbortSignal,
): Promise<number> {
  let key = terminal.env.UNIGATE_API_KEY;
  try {
    const invocation = parseCommandLine(args);
    if (invocation === 'help') terminal.stdout.write(usageText);
    else if (invocation === 'version') terminal.stdout.write(`${version}\n`);
    else {
      const { command, options } = invocation;
      key = options.key ?? key;
      if (!key?.trim()) throw new UsageError('Give --key, or set UNIGATE_API_KEY.');
      const baseUrl = options['base-url'] || terminal.env.UNIGATE_BASE_URL || undefined;
      await commands[command](new Unigate({ baseUrl, apiKey: key }), invocation, terminal, signal);
    }
    return 0;
  } catch (error) {
    const advised = error instanceof AdvisedError;
    const cause = advised ? error.cause : error;
    if (isClosedPipe(cause)) return 0;
    const what = signal.aborted ? 'stopped.' : describe(cause);
    const line = printable(advised ? `${what} ${error.message}` : what).replaceAll(/\s+/g, ' ');
    terminal.stderr.write(`unigate: ${key?.trim() ? line.replaceAll(key.trim(), '***') : line}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function describe(error: unknown): string {
  if (error instanceof APIError) {
    const { status, code, message, requestId } = error;
    return `${code ?? 'error'} (${status}): ${message}${requestId ? ` [request ${requestId}]` : ''}`;
  }
  if (error instanceof TaskFailedError && error.task)
    return `${error.code}: ${error.message} [${error.taskId}]`;
  if (error instanceof RealtimeError || error instanceof TaskFailedError) {
    const { code, message, requestId } = error;
    return `${code ?? 'error'}: ${message}${requestId ? ` [request ${requestId}]` : ''}`;
  }
  if (error instanceof UsageError) return `${error.message} See unigate --help.`;
  return error instanceof Error ? error.message : String(error);
}

function isClosedPipe(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPIPE';
}
