import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

/** Compiles TypeScript snippets in a folder, with the options of a strict project. Returns the errors of the compiler. */
export async function compileErrors(
  folder: string,
  snippets: readonly { file: string; code: string }[],
): Promise<string> {
  for (const { file, code } of snippets) await writeFile(join(folder, file), code);
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      target: 'esnext',
      module: 'nodenext',
      types: ['node'],
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
    },
    files: snippets.map(({ file }) => file),
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = await promisify(execFile)(tsc, ['-p', folder]).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}
