import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { operations } from '../../generated/operations.ts';

/** A running gateway for `npm run dev`. */
const gateway = process.env.UNIGATE_BASE_URL ?? 'http://127.0.0.1:8080';

/** Replaces the table of operations, which is large, by one with the facts that the typed client reads. */
const smallOperations: Plugin = {
  name: 'small-operations',
  transform(_, id) {
    if (!id.endsWith('/generated/operations.ts')) return undefined;
    const entries = Object.entries(operations).map(([name, { method, path, mediaTypes }]) => {
      const succeeded = Object.entries(mediaTypes.response).filter(([status]) => status.startsWith('2'));
      return [name, { method, path, mediaTypes: { response: Object.fromEntries(succeeded) } }];
    });
    return { code: `export const operations = ${JSON.stringify(Object.fromEntries(entries))};`, map: null };
  },
};

/** The typed client, the parts of pages and their libraries, without those of a single page. */
const sharedCode =
  /\/client\/(?!console\/)|\/console\/(?:parts|calls|contract|session|shell)\/|\/node_modules\/(?:@?preact|lucide)\//;

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // The gateway replaces the marker by its own path, see `server/operations/service/site-files.ts`.
  base: command === 'build' ? '/__home__/console/' : '/',
  build: {
    outDir: fileURLToPath(new URL('../../generated/site/console', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 1_500,
    // One file of all that pages share is smaller, compressed, than many small ones.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', test: sharedCode, minShareCount: 2 }] } },
    },
  },
  resolve: {
    alias: {
      'three/examples/jsm/libs/meshopt_decoder.module.js': fileURLToPath(
        new URL('models3d/no-meshopt.ts', import.meta.url),
      ),
    },
  },
  plugins: [smallOperations],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: {
    proxy: {
      '^/(v1|api|api-ws|sigma|imgjob|mock-media|(?:open|async)api\\.json|docs)': {
        target: gateway,
        ws: true,
      },
    },
  },
}));
