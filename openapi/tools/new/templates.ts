import { pascal } from '../document.ts';
import type { NewOperation } from './new-operation.ts';

/** Renders the files of a new operation, path -> text. Placeholders mark what must be written. */
export function newFiles(operation: NewOperation): Map<string, string> {
  const { id, area } = operation;
  const name = pascal(id);
  return new Map([
    [`openapi/${pathFile(operation)}`, pathItem(operation)],
    [
      `openapi/schemas/${area}/${name}Reply.yaml`,
      schema(`${name}Reply`, `Response of ${id}. To be written.`),
    ],
    ...(hasBody(operation)
      ? [
          [
            `openapi/schemas/${area}/${name}Request.yaml`,
            schema(`${name}Request`, `Request of ${id}. To be written.`),
          ] as const,
        ]
      : []),
    [`test/contract/${area}/${id}.test.ts`, contractTest(id)],
    [`server/operations/${area}/${id}.ts`, handler(id)],
  ]);
}

/** Relative to openapi/. */
export const pathFile = ({ id, area }: NewOperation) => `paths/${area}/${kebab(id)}.yaml`;

/** Statuses that the operation documents, in order. */
export const statusesOf = (operation: NewOperation): number[] => [200, ...errorsOf(operation).keys()];

export const hasBody = ({ method }: NewOperation) => ['post', 'patch'].includes(method);
const kebab = (id: string) => id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Status -> name of its response without the prefix of the family. */
function errorsOf(operation: NewOperation): Map<number, string> {
  const hasInput = hasBody(operation) || operation.parameters.length > 0;
  return new Map<number, string>([
    ...(hasInput ? [[400, 'BadRequest'] as const] : []),
    [401, 'Unauthorized'],
    ...(operation.area === 'admin' ? [[403, 'Forbidden'] as const] : []),
    ...(hasBody(operation)
      ? ([
          [413, 'PayloadTooLarge'],
          [415, 'UnsupportedMediaType'],
        ] as const)
      : []),
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'Unavailable'],
  ]);
}

function pathItem(operation: NewOperation): string {
  const { id, method, area, summary, family, parameters } = operation;
  const name = pascal(id);
  const lines = [
    `${method}:`,
    `  operationId: ${id}`,
    `  tags: [${area}]`,
    `  summary: ${JSON.stringify(summary)}`,
    '  description: To be written.',
    ...(area === 'admin' ? ['  x-role: admin'] : []),
    '  x-extension: true',
    `  x-error-family: ${family}`,
    ...(parameters.length > 0 ? ['  parameters:'] : []),
    ...parameters.map((file) => `    - { $ref: ../../parameters/${file} }`),
    ...(hasBody(operation)
      ? [
          '  x-body-limit-mb: 1',
          '  requestBody:',
          '    required: true',
          '    description: To be written.',
          ...content('    ', `../../schemas/${area}/${name}Request.yaml`),
        ]
      : []),
    '  responses:',
    "    '200':",
    '      description: To be written.',
    '      headers:',
    '        x-request-id: { $ref: ../../headers/RequestId.yaml }',
    ...content('      ', `../../schemas/${area}/${name}Reply.yaml`),
    ...[...errorsOf(operation)].map(
      ([status, error]) => `    '${status}': { $ref: ../../responses/${pascal(family)}${error}.yaml }`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const content = (indent: string, schemaFile: string) =>
  [
    'content:',
    '  application/json:',
    `    schema: { $ref: ${schemaFile} }`,
    '    examples:',
    '      unwritten:',
    '        summary: To be written.',
    '        value: {}',
  ].map((line) => `${indent}${line}`);

const schema = (title: string, description: string) =>
  `title: ${title}\ntype: object\ndescription: ${description}\nadditionalProperties: false\n`;

const handler = (id: string) => `import type { Handler } from '../../http/handler.ts';

export const ${id}: Handler<'${id}'> = () => {
  throw new Error('${id} is not implemented.');
};
`;

const contractTest = (id: string) => `import { expect, test } from 'vitest';
import { jsonOf } from '../../../test/conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('${id}', {
  gatewayTests(call) {
    test('returns a result', async () => {
      const response = await call();
      expect(response.status, response.body.toString()).toBe(200);
      // Replace with assertions about the response.
      expect(jsonOf(response)).not.toEqual({});
    });
  },
});
`;
