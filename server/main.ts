import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// What a start has compiled the next one need not; in the environment, so that threads have it, too.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url));
enableCompileCache();
await import('./app/start.ts');
