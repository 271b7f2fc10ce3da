import { defineConfig, type OxlintConfig } from 'oxlint';

/**
 * The floors of `server/`, from the top down: a room may import from the floors below its own, and from itself.
 * CONTRIBUTING.md shows the same picture.
 */
const floors: readonly (readonly string[])[] = [
  ['operations'],
  ['realtime', 'inference'],
  ['sockets'],
  ['speech', 'text'],
  ['calls', 'formats', 'assets'],
  ['http'],
  ['deliveries', 'providers'],
  ['gateway.ts'],
  ['tasks'],
  ['channels', 'ledger'],
  ['models'],
  ['accounts'],
  ['outbound', 'files'],
  ['runtime'],
  ['store'],
  ['telemetry'],
  ['settings'],
  ['failure.ts'],
];

/** What puts the rooms together; nothing imports it. */
const roof = [
  'main.ts',
  'start.ts',
  'admin.ts',
  'docs.ts',
  'workers',
  'serve.ts',
  'app.ts',
  'operator.ts',
  'embedded-sandbox.ts',
];

type Override = NonNullable<OxlintConfig['overrides']>[number];

/** Patterns of the import paths that lead into a room, or to a file. */
const into = (room: string) => (room.endsWith('.ts') ? `**/${room}` : `**/${room}/**`);

function onlyDown(room: string, floor: number): Override {
  const below = floors.slice(floor + 1).flat();
  const closed = [...roof, ...floors.flat().filter((other) => other !== room && !below.includes(other))];
  const way = below.length === 0 ? 'nothing else in server/' : below.join(', ');
  return {
    files: [room.endsWith('.ts') ? `server/${room}` : `server/${room}/**`],
    rules: {
      'eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: [...closed.map(into), '@unigate/sandbox', '**/sandbox/**'],
              message: `The way in server/ is down: ${room} may import from itself and from ${way}.`,
            },
          ],
        },
      ],
    },
  };
}

/** The sandbox is a package of its own; of the server it takes only the safe outgoing connections. */
function sandboxAtDepth(depth: number): Override {
  const rooms = floors.flat().filter((room) => room !== 'outbound');
  const names = [...roof, ...rooms].map((name) => name.replace('.', '\\.')).join('|');
  return {
    files: [`server/sandbox/${'*/'.repeat(depth)}*.ts`],
    rules: {
      'eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^${'\\.\\./'.repeat(depth + 1)}(${names})(/|$)`,
              message: 'The sandbox may import from itself and from server/outbound.',
            },
          ],
        },
      ],
    },
  };
}

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  categories: {
    correctness: 'error',
    suspicious: 'error',
    perf: 'off',
  },
  options: {
    typeAware: true,
  },
  rules: {
    'eslint/eqeqeq': 'error',
    'eslint/no-var': 'error',
    'eslint/prefer-const': 'error',
    'eslint/no-unused-vars': [
      'error',
      {
        argsIgnorePattern: '^_',
        varsIgnorePattern: '^_',
        ignoreRestSiblings: true,
      },
    ],
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/consistent-type-imports': [
      'error',
      {
        disallowTypeAnnotations: false,
      },
    ],
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/switch-exhaustiveness-check': [
      'error',
      {
        considerDefaultExhaustiveForUnions: true,
      },
    ],
    'typescript/only-throw-error': 'error',
    'import/no-cycle': [
      'error',
      {
        ignoreTypes: false,
      },
    ],
    'vitest/valid-expect': [
      'error',
      {
        maxArgs: 2,
      },
    ],
    'typescript/no-unsafe-type-assertion': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'unicorn/no-array-fill-with-reference-type': 'off',
    'promise/no-callback-in-promise': 'off',
    'promise/always-return': 'off',
    'vitest/expect-expect': 'off',
    'vitest/no-conditional-tests': 'off',
    'vitest/no-conditional-expect': 'off',
    'vitest/no-standalone-expect': 'off',
    'vitest/require-to-throw-message': 'off',
    'vitest/require-mock-type-parameters': 'off',
    'import/no-named-as-default-member': 'off',
    'eslint/no-shadow': 'off',
    'vitest/valid-title': 'off',
    'vitest/no-focused-tests': 'error',
    'vitest/no-disabled-tests': 'error',
    'typescript/no-generated-empty-object-type': 'off',
    'typescript/no-unnecessary-type-parameters': 'off',
    'typescript/consistent-return': 'off',
    'typescript/no-unsafe-enum-comparison': 'off',
    'eslint/no-unmodified-loop-condition': 'off',
    'eslint/no-control-regex': 'off',
    'typescript/unbound-method': 'off',
  },
  ignorePatterns: ['generated', 'client/dist', 'test/conformance/dist', '**/node_modules'],
  overrides: [
    {
      files: ['test/types/**'],
      rules: {
        'typescript/switch-exhaustiveness-check': 'off',
        'typescript/consistent-type-imports': 'off',
      },
    },
    ...floors.flatMap((rooms, floor) => rooms.map((room) => onlyDown(room, floor))),
    ...[0, 1, 2, 3].map(sandboxAtDepth),
  ],
});
