import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import { httpTypesSource } from '../../../openapi/tools/http-types.ts';

const run = promisify(execFile);

/** The OpenAPI document as a file and as JSON, its 3.0 copy, and the base URL of the generated client. */
interface Source {
  file: string;
  json: JsonObject;
  file30: string;
  baseUrl: string;
}

/** Writes the types of a document, and a client if it supports that, into a folder. Returns the file of the types. */
type Generator = (source: Source, folder: string) => Promise<string>;

// Only the functions in use: the declarations of these packages need other versions of TypeScript.
interface Packages {
  'swagger-typescript-api': {
    generateApi(options: {
      spec: JsonObject;
      output: string;
      fileName: string;
      generateClient: boolean;
      extractRequestBody: boolean;
      generateUnionEnums: boolean;
      silent: boolean;
    }): Promise<unknown>;
  };
  '@hey-api/openapi-ts': {
    createClient(options: {
      input: string;
      output: string;
      plugins: string[];
      logs: { level: 'silent' };
    }): Promise<unknown>;
  };
  orval: {
    generate(options: {
      input: { target: string };
      output: { target: string; mode: 'single'; client: 'fetch'; baseUrl: string };
    }): Promise<unknown>;
  };
  'openapi-typescript-codegen': {
    generate(options: {
      input: string;
      output: string;
      httpClient: 'fetch';
      useOptions: boolean;
      useUnionTypes: boolean;
    }): Promise<void>;
  };
  oazapfts: { generateSource(file: string): Promise<string> };
  '@rtk-query/codegen-openapi': {
    generateEndpoints(options: {
      schemaFile: string;
      apiFile: string;
      apiImport: string;
      outputFile: string;
    }): Promise<unknown>;
  };
  '@asyncapi/modelina': {
    TypeScriptGenerator: new (options: {
      modelType: 'interface';
      enumType: 'union';
      rawPropertyNames: boolean;
      processorOptions: { interpreter: { ignoreAdditionalProperties: boolean } };
    }) => { generate(document: JsonObject): Promise<{ result: string }[]> };
  };
  '@kubb/core': {
    build(options: {
      config: {
        root: string;
        input: { path: string };
        output: { path: string; write: false };
        plugins: unknown[];
      };
    }): Promise<{ error?: Error | undefined; sources: Map<string, string> }>;
  };
  '@kubb/plugin-oas': { pluginOas(options: { generators: [] }): unknown };
  '@kubb/plugin-ts': {
    pluginTs(options: { output: { path: string }; emptySchemaType: 'void' }): unknown;
  };
}

/** The API that RTK Query adds the generated endpoints to. Without this handler, it parses every body as JSON. */
const emptyApi = `import { createApi, fetchBaseQuery } from '@reduxjs/toolkit/query';

export const settings = { baseUrl: '', key: '' };

export const emptyApi = createApi({
  baseQuery: (args, api, extra) =>
    fetchBaseQuery({
      baseUrl: settings.baseUrl,
      prepareHeaders: (headers) => headers.set('authorization', \`Bearer \${settings.key}\`),
      responseHandler: (response) =>
        response.headers.get('content-type')?.includes('json') ? response.json() : response.blob(),
    })(args, api, extra),
  endpoints: () => ({}),
});
`;

const load = <Name extends keyof Packages>(name: Name) => import(name) as Promise<Packages[Name]>;

/** Generators that client teams use, with options close to their defaults. */
export const generators: Readonly<Record<string, Generator>> = {
  'openapi-typescript': async ({ json }, folder) => {
    const file = join(folder, 'openapi-typescript.ts');
    const schemas = Object.keys((json.components as { schemas: JsonObject }).schemas);
    const named = schemas.map((name) => `export type ${name} = components['schemas']['${name}'];\n`);
    await writeFile(file, (await httpTypesSource(json)) + named.join(''));
    return file;
  },
  'swagger-typescript-api': async ({ json }, folder) => {
    const { generateApi } = await load('swagger-typescript-api');
    // With enums, a state that a callback narrows would become `never`.
    const options = {
      generateClient: true,
      extractRequestBody: true,
      generateUnionEnums: true,
      silent: true,
    };
    await generateApi({ spec: json, output: folder, fileName: 'swagger-typescript-api.ts', ...options });
    return join(folder, 'swagger-typescript-api.ts');
  },
  'hey-api': async ({ file }, folder) => {
    const { createClient } = await load('@hey-api/openapi-ts');
    const output = join(folder, 'hey-api');
    const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'];
    await createClient({ input: file, output, plugins, logs: { level: 'silent' } });
    return join(output, 'types.gen.ts');
  },
  orval: async ({ file, baseUrl }, folder) => {
    const { generate } = await load('orval');
    const target = join(folder, 'orval.ts');
    await generate({ input: { target: file }, output: { target, mode: 'single', client: 'fetch', baseUrl } });
    return target;
  },
  // This generator supports only OpenAPI 3.0.
  'openapi-typescript-codegen': async ({ file30 }, folder) => {
    const { generate } = await load('openapi-typescript-codegen');
    const output = join(folder, 'openapi-typescript-codegen');
    await generate({ input: file30, output, httpClient: 'fetch', useOptions: true, useUnionTypes: true });
    // The generated code decodes every body that is not JSON as text, which corrupts files.
    const request = join(output, 'core/request.ts');
    const source = await readFile(request, 'utf8');
    const fixed = source.replace('await response.text()', 'await response.blob()');
    if (fixed === source) throw new Error(`${request} does not read bodies as text`);
    await writeFile(request, fixed);
    return join(output, 'index.ts');
  },
  oazapfts: async ({ file }, folder) => {
    const { generateSource } = await load('oazapfts');
    const target = join(folder, 'oazapfts.ts');
    await writeFile(target, await generateSource(file));
    return target;
  },
  'rtk-query': async ({ file }, folder) => {
    const { generateEndpoints } = await load('@rtk-query/codegen-openapi');
    const target = join(folder, 'rtk-query.ts');
    const apiFile = join(folder, 'empty-api.ts');
    await writeFile(apiFile, emptyApi);
    await generateEndpoints({ schemaFile: file, apiFile, apiImport: 'emptyApi', outputFile: target });
    return target;
  },
  kubb: async ({ file }, folder) => {
    const [{ build }, { pluginOas }, { pluginTs }] = await Promise.all([
      load('@kubb/core'),
      load('@kubb/plugin-oas'),
      load('@kubb/plugin-ts'),
    ]);
    const types = pluginTs({ output: { path: 'types.ts' }, emptySchemaType: 'void' });
    const plugins = [pluginOas({ generators: [] }), types];
    // With `write`, it would also create files below the current folder.
    const output = { path: 'kubb', write: false } as const;
    const { error, sources } = await build({
      config: { root: folder, input: { path: file }, output, plugins },
    });
    if (error) throw error;
    const target = join(folder, 'kubb.ts');
    await writeFile(target, sources.get(join(folder, 'kubb/types.ts')) ?? '');
    return target;
  },
};

/** Writes the event types of an AsyncAPI document into a folder. Returns the file. */
export async function generateEvents(document: JsonObject, folder: string): Promise<string> {
  const { TypeScriptGenerator } = await load('@asyncapi/modelina');
  const generator = new TypeScriptGenerator({
    modelType: 'interface',
    enumType: 'union',
    rawPropertyNames: true,
    // Without this option, each type would get a field `additionalProperties`.
    processorOptions: { interpreter: { ignoreAdditionalProperties: true } },
  });
  const models = await generator.generate(document);
  const file = join(folder, 'events.ts');
  await writeFile(file, models.map(({ result }) => `export ${result}\n`).join(''));
  return file;
}

/** A type that lists the paths of `any` and `unknown` in another type, down to five levels. Skips index signatures. */
const collapsed = `
type Collapsed<T, Depth extends 0[] = []> = unknown extends T ? ''
  : Depth['length'] extends 5 ? never
  : T extends readonly (infer Item)[] ? \`[]\${Collapsed<Item, [...Depth, 0]>}\`
  : T extends Blob | ((...args: never[]) => unknown) ? never
  : T extends object ? { [Key in keyof T & string]:
      string extends Key ? never : \`.\${Key}\${Collapsed<T[Key], [...Depth, 0]>}\` }[keyof T & string]
  : never;
type Complete<Paths extends never> = Paths;
`;

/** Returns the names of the non-generic types that a source exports or re-exports. */
export const exportedTypes = (source: string): string[] => {
  const own = source.matchAll(/^export (?:type|interface) (\w+)(?= *[={]| extends)/gm);
  const reExported = source.matchAll(/^export type \{ (\w+) \} from/gm);
  return [...new Set([...own, ...reExported].flatMap(([, name]) => name ?? []))];
};

/**
 * Compiles the types of a file and programs that use them. Returns compiler errors, and each type with the paths that are
 * `any` or `unknown`.
 */
export async function problemsOf(
  file: string,
  folder: string,
  programs: readonly string[] = [],
): Promise<string[]> {
  const names = exportedTypes(await readFile(file, 'utf8'));
  const project = join(folder, 'check');
  await mkdir(project, { recursive: true });
  const head = `import type * as Api from ${JSON.stringify(file)};${collapsed}`;
  const probes = names.map((name) => `export type ${name} = Complete<Collapsed<Api.${name}>>;\n`);
  await writeFile(join(project, 'probe.ts'), head + probes.join(''));
  const options = {
    strict: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: [],
    allowImportingTsExtensions: true,
  };
  const files = [join(project, 'probe.ts'), ...programs];
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
  const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
  const { stdout } = await run(process.execPath, [tsc, '--project', project]).catch(
    (error: { stdout: string }) => error,
  );
  const before = head.split('\n').length;
  return stdout.split('\n').flatMap((line) => {
    const [, at, paths] = /probe\.ts\((\d+),\d+\): error TS2344: Type '(.*)' does not/.exec(line) ?? [];
    if (paths !== undefined) return `${names[Number(at) - before]} at ${paths}`;
    return line.includes('error') ? line : [];
  });
}
