import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type Operation } from '../document.ts';
import { readYaml } from '../problem.ts';
import { CannotCreate, type NewOperation } from './new-operation.ts';
import { hasBody } from './templates.ts';

/** The resource of the client that gets the method of a new operation. */
export interface ClientResource {
  /** For example `music` or `admin.channels`. */
  name: string;
  /** File with its class. */
  file: string;
  /** An operation that the class calls. */
  neighbor: Pick<Operation, 'id' | 'method' | 'path'>;
}

export const clientTest = 'test/client/operations.test.ts';

/** Finds the resource whose operations have the most similar path, among those of the area. Throws CannotCreate. */
export function clientResource(
  root: string,
  { path, area }: NewOperation,
  neighbors: readonly ClientResource['neighbor'][],
): ClientResource {
  const test = readFileSync(join(root, clientTest), 'utf8');
  const files = readdirSync(join(root, 'client'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name, text: readFileSync(join(root, 'client', name), 'utf8') }));
  const found = neighbors.flatMap((neighbor): ClientResource[] => {
    const name = new RegExp(`^ {2}${neighbor.id}: \\(client\\) => client\\.([\\w.]+)\\.\\w+\\(`, 'm').exec(
      test,
    )?.[1];
    const file = files.find(({ text }) => callOf(neighbor.id).test(text))?.name;
    return name === undefined || file === undefined ? [] : [{ name, file: `client/${file}`, neighbor }];
  });
  const [closest] = found.toSorted(
    (one, other) => commonSegments(other.neighbor.path, path) - commonSegments(one.neighbor.path, path),
  );
  if (closest === undefined)
    throw new CannotCreate(`the client has no resource with operations of area ${area}`);
  return closest;
}

const callOf = (id: string) => new RegExp(`this\\.#caller\\.call(?:WithResponse)?\\('${id}'`);

function commonSegments(one: string, other: string): number {
  const segments = other.split('/');
  const differing = one.split('/').findIndex((segment, index) => segment !== segments[index]);
  return differing < 0 ? segments.length : differing;
}

/** Adds the method to the end of its class. */
export function withMethod(
  root: string,
  lines: string[],
  operation: NewOperation,
  neighbor: string,
): string[] {
  const { id, method, path } = operation;
  const call = lines.findIndex((line) => callOf(neighbor).test(line));
  const end = lines.indexOf('}', call);
  const parameters = pathParameters(root, operation);
  const body = hasBody(operation) ? ['body: Record<string, never>'] : [];
  const inputs = [
    ...parameters.map(({ name, type }) => `${name}: ${type}`),
    ...body,
    'options: CallOptions = {}',
  ];
  const values = parameters.map(({ name, key }) => (name === key ? key : `${key}: ${name}`)).join(', ');
  const init = [
    ...(parameters.length > 0 ? [`params: { path: { ${values} } }`] : []),
    ...(hasBody(operation) ? ['body'] : []),
  ];
  const argument = init.length === 0 ? 'options' : `{ ...options, ${init.join(', ')} }`;
  return lines.toSpliced(
    end,
    0,
    '',
    `  /** To be written. \`${method.toUpperCase()} ${path}\` */`,
    `  ${id}(${inputs.join(', ')}) {`,
    `    return this.#caller.call('${id}', ${argument});`,
    '  }',
  );
}

/** The row of `client/README.md`. */
export const readmeRow = (
  { id, method, path }: Pick<NewOperation, 'id' | 'method' | 'path'>,
  resource: string,
) => `${readmePath({ method, path })} \`client.${resource}.${id}()\` |`;

export const readmePath = ({ method, path }: Pick<NewOperation, 'method' | 'path'>) =>
  `| \`${method.toUpperCase()} ${path}\` |`;

/** The row of the test that calls every method. */
export function testRow(root: string, operation: NewOperation, resource: string): string {
  const ids = pathParameters(root, operation).map(({ type }) => (type === 'number' ? '1' : "'id_1'"));
  const values = [...ids, ...(hasBody(operation) ? ['{}'] : [])].join(', ');
  return `  ${operation.id}: (client) => client.${resource}.${operation.id}(${values}),`;
}

/** The path parameters, with the name and the type that the method uses. */
function pathParameters(root: string, { path, parameters }: NewOperation) {
  const keys = path.match(/(?<=\{)[^}]+/g) ?? [];
  return keys.map((key, index) => {
    const file = `openapi/parameters/${parameters[index] ?? ''}`;
    const node = readYaml(file, readFileSync(join(root, file), 'utf8'));
    const schema = isObject(node) && isObject(node.schema) ? node.schema : {};
    const name = key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return { key, name, type: schema.type === 'integer' ? 'number' : 'string' };
  });
}
