import { execFile } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { Copy, DockerfileParser, type Instruction } from 'dockerfile-ast';
import { read, root } from './files.ts';

const dockerfile = DockerfileParser.parse(read('Dockerfile'));

/** The instructions of each stage, starting with its FROM. */
export const stages: readonly (readonly Instruction[])[] = dockerfile
  .getInstructions()
  .reduce<Instruction[][]>((all, instruction) => {
    if (instruction.getKeyword() === 'FROM') all.push([instruction]);
    else all.at(-1)?.push(instruction);
    return all;
  }, []);

/** Returns the arguments of an instruction without its flags. */
export const wordsOf = (instruction: Instruction): string[] =>
  instruction.getArguments().map((argument) => argument.getValue());

/** Returns the stage that a COPY copies from. Undefined if it copies from this repository. */
export const sourceStage = (instruction: Instruction): string | undefined =>
  instruction instanceof Copy ? (instruction.getFromFlag()?.getValue() ?? undefined) : undefined;

/** Returns the shell command of an instruction: continued lines joined, comments removed. */
const commandOf = (instruction: Instruction): string =>
  instruction
    .getRawArgumentsContent()
    ?.replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ') ?? '';

/**
 * Runs the COPY and RUN instructions of a stage in a folder that replaces its WORKDIR. Files come from this repository or
 * from the folders of other stages. `isFinal` skips the RUN instructions, which need the users of an image.
 */
export async function build(
  stage: readonly Instruction[],
  folder: string,
  {
    args = {},
    from = {},
    isFinal = false,
  }: {
    args?: Readonly<Record<string, string>>;
    from?: Readonly<Record<string, string>>;
    isFinal?: boolean;
  } = {},
): Promise<void> {
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const instruction of stage) {
    const words = wordsOf(instruction);
    if (instruction.getKeyword() === 'ARG') {
      const [name = '', value = ''] = words[0]?.split('=') ?? [];
      env[name] = args[name] ?? value;
    } else if (instruction.getKeyword() === 'COPY') {
      const stageName = sourceStage(instruction);
      const to = words.at(-1) ?? '';
      for (const source of words.slice(0, -1)) {
        const path =
          stageName === undefined
            ? join(root, source)
            : join(from[stageName] ?? '', source.replace(/^\/app\//, ''));
        const isFolder = to.endsWith('/') || words.length > 2;
        const target = isFolder ? join(folder, to, basename(source)) : join(folder, to);
        await mkdir(join(target, '..'), { recursive: true });
        // Excluded by .dockerignore.
        const filter = (one: string) =>
          stageName !== undefined ||
          !/\/(node_modules|dist|generated\/site)(\/|$)/.test(one.slice(root.length));
        await cp(path, target, { recursive: true, verbatimSymlinks: true, filter });
      }
    } else if (instruction.getKeyword() === 'RUN' && !isFinal) {
      await promisify(execFile)('sh', ['-c', commandOf(instruction)], { cwd: folder, env });
    }
  }
}
