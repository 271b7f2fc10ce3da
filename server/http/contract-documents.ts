import { readFileSync } from 'node:fs';

/** The bundles as they are served, read once. */
export const contractDocuments = {
  openapi: readFileSync(new URL('../../generated/openapi.json', import.meta.url)),
  asyncapi: readFileSync(new URL('../../generated/asyncapi.json', import.meta.url)),
};
