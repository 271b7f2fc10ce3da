import { fileURLToPath } from 'node:url';

/** Node arguments for a child process that ends with its parent. Its standard input must be a `pipe`. */
export const endsWithParent: readonly string[] = [
  `--import=${import.meta.resolve('./end-with-parent.ts')}`,
  `--import=${import.meta.resolve('./one-file.ts')}`,
];

/** Environment of the shared compile cache, which halves the start time of Node. */
export const compiled: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE:
    process.env.NODE_COMPILE_CACHE ??
    fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url)),
};
