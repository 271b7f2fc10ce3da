import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** A running gateway for `npm run dev`. */
const gateway = process.env.UNIGATE_BASE_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  // Relative addresses: the path of the gateway is known only at run time.
  base: './',
  build: {
    outDir: fileURLToPath(new URL('../../generated/site/console', import.meta.url)),
    emptyOutDir: true,
    assetsDir: '',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 1_500,
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: {
    proxy: { '^/(v1|api|api-ws|sigma|imgjob|mock-media|openapi\\.json|docs)': { target: gateway, ws: true } },
  },
});
