import { defineConfig, type OxlintConfig } from 'oxlint';

/**
 * The layers of `server/`, from the top down. A module may import from itself and from modules of lower layers.
 * CONTRIBUTING.md shows the same table.
 */
const layers: readonly (readonly string[])[] = [
  ['operations'],
  ['sockets'],
  ['calls'],
  ['providers'],
  ['http'],
  ['tasks'],
  ['channels', 'quota'],
  ['keys', 'models', 'outbound', 'media'],
  ['store'],
  ['settings'],
  ['telemetry', 'lib'],
];

/** The top layer: the entry points and the composition root. Nothing below imports it. */
const top = ['main.ts', 'admin.ts', 'docs.ts', 'probe.ts', 'app'];

type Override = NonNullable<OxlintConfig['overrides']>[number];

/** A pattern of the import paths that lead to a module or a file. */
const pathsTo = (name: string) => (name.endsWith('.ts') ? `**/${name}` : `**/${name}/**`);

function onlyLowerLayers(module: string, layer: number): Override {
  const below = layers.slice(layer + 1).flat();
  const forbidden = [...top, ...layers.flat().filter((other) => other !== module && !below.includes(other))];
  const allowed = below.length === 0 ? 'from nothing else in server/' : `from ${below.join(', ')}`;
  return {
    files: [`server/${module}/**`],
    rules: {
      'eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: [...forbidden.map(pathsTo), '@unigate/sandbox', '**/sandbox/**'],
              message: `${module} may import from itself and ${allowed}.`,
            },
          ],
        },
      ],
    },
  };
}

/** The sandbox is a package of its own. Of the server it imports only `outbound/`. */
function sandboxAtDepth(depth: number): Override {
  const modules = layers.flat().filter((module) => module !== 'outbound');
  const names = [...top, ...modules].map((name) => name.replace('.', '\\.')).join('|');
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
    'import/no-unassigned-import': ['error', { allow: ['**/*.css'] }],
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
    // `then` is a keyword of JSON Schema.
    'unicorn/no-thenable': 'off',
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
    {
      // Without the packages of this folder, which `npm ci` does not install, their types are unknown.
      files: ['test/interop/**'],
      rules: { 'typescript/no-unnecessary-type-assertion': 'off' },
    },
    {
      // Style sheets are imported for their effect.
      files: ['client/console/**'],
      rules: { 'import/no-unassigned-import': ['error', { allow: ['**/*.css'] }] },
    },
    ...layers.flatMap((modules, layer) => modules.map((module) => onlyLowerLayers(module, layer))),
    ...[0, 1, 2, 3].map(sandboxAtDepth),
  ],
});
