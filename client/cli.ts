import { runAdmin } from './commands/admin/run.ts';
import { showAsset, uploadAsset } from './commands/assets.ts';
import { type Command, type Invocation, parseCommandLine } from './commands/command-line.ts';
import { connect } from './commands/connect.ts';
import { cloneVoice, deleteVoice, designVoice, listOwnVoices } from './commands/custom-voices.ts';
import { makeImage } from './commands/image.ts';
import { makeModel3d } from './commands/model3d.ts';
import { listModels } from './commands/models.ts';
import { makeMusic, writeLyrics } from './commands/music.ts';
import { reportFailure } from './commands/report-failure.ts';
import { runProcess } from './commands/run-process.ts';
import { speak } from './commands/speak.ts';
import type { Terminal } from './commands/terminal.ts';
import { usageText } from './commands/usage.ts';
import { makeVideo } from './commands/video.ts';
import { listVoices } from './commands/voices.ts';
import type { Unigate } from './unigate.ts';

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

/** Runs the command line of this process. The exit code is that of `run`, or 130 or 143 after a signal. */
export async function main(version: string): Promise<void> {
  await runProcess((signal) => run(process.argv.slice(2), process, version, signal));
}

/**
 * Runs one command. Returns the exit code: 0 success, 1 an error of the gateway, the network or a file, 2 an invalid command
 * line. An error is one line on stderr and never contains the key.
 */
export async function run(
  args: string[],
  terminal: Terminal,
  version: string,
  signal: AbortSignal,
): Promise<number> {
  if (args[0] === 'admin')
    return await runAdmin(args.slice(1), terminal, { name: 'unigate admin', version }, signal);
  let key = terminal.env.UNIGATE_API_KEY;
  try {
    const invocation = parseCommandLine(args);
    if (invocation === 'help') terminal.stdout.write(usageText);
    else if (invocation === 'version') terminal.stdout.write(`${version}\n`);
    else {
      const { command, options } = invocation;
      key = options.key ?? key;
      await commands[command](connect(options, terminal), invocation, terminal, signal);
    }
    return 0;
  } catch (error) {
    return reportFailure(error, terminal, { program: 'unigate', key, stopped: signal.aborted });
  }
}
