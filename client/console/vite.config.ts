import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** A running gateway for `npm run dev`. */
const gateway = process.env.UNIGATE_BASE_URL ?? 'http://127.0.0.1:8080';

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
  },
  resolve: {
    alias: {
      'three/examples/jsm/libs/meshopt_decoder.module.js': fileURLToPath(
        new URL('models3d/no-meshopt.ts', import.meta.url),
      ),
    },
  },
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
