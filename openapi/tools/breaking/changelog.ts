import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Comparison, compare } from './comparison.ts';
import { CannotCompare } from './contract.ts';
import { affected } from './formats.ts';
import type { Severity } from './version.ts';

const help = `npm run changelog -- [--base <git ref or folder>] [--json]

Lists all changes of the contract since a base, grouped by area, and the version that they need.

  --base  a git ref, or a folder with openapi.json, asyncapi.json and optionally errors.yaml; default: the last tag v…,
          or the merge base with main if there is no tag
  --json  prints JSON instead of Markdown`;

const titles: readonly (readonly [Severity, string])[] = [
  ['major', 'Breaking'],
  ['minor', 'Compatible'],
  ['patch', 'Documentation'],
];

try {
  await main();
} catch (error) {
  const isExpected = error instanceof CannotCompare || (error instanceof Error && 'code' in error);
  console.error(isExpected ? error.message : error);
  process.exitCode = 2;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      root: { type: 'string' },
    },
  });
  if (values.help) return console.log(help);
  const root = values.root ?? fileURLToPath(new URL('../../..', import.meta.url));
  const compared = await compare(root, values.base);
  console.log(values.json ? JSON.stringify(asJson(compared), null, 2) : asMarkdown(compared));
}

type Areas = Map<string, Comparison['changes']>;

function areasOf({ changes }: Comparison): Areas {
  const areas = Map.groupBy(changes, ({ area }) => area);
  return new Map([...areas].sort(([one], [other]) => one.localeCompare(other)));
}

function asJson(compared: Comparison): object {
  const { base, baseVersion, severity, lowestVersion } = compared;
  const areas = [...areasOf(compared)].map(([area, changes]) => [
    area,
    changes.map(({ area: _, ...change }) => change),
  ]);
  return {
    base: base.description,
    baseVersion,
    severity: severity ?? null,
    lowestVersion,
    areas: Object.fromEntries(areas),
  };
}

function asMarkdown(compared: Comparison): string {
  const { base, baseVersion, severity, lowestVersion } = compared;
  const sections = [...areasOf(compared)].flatMap(([area, changes]) => [
    '',
    `## ${area}`,
    ...titles.flatMap(([of, title]) => {
      const lines = changes.filter((one) => one.severity === of).map(lineOf);
      return lines.length === 0 ? [] : ['', `### ${title}`, '', ...lines];
    }),
  ]);
  const version =
    severity === undefined
      ? 'The contract has not changed.'
      : `The next version after ${baseVersion} must be ${lowestVersion} or later.`;
  return [`# Changes of the contract`, '', `Compared with ${base.description}. ${version}`, ...sections].join(
    '\n',
  );
}

function lineOf({ change, operations }: Comparison['changes'][number]): string {
  return `- ${change}${operations.length === 0 ? '' : ` (${affected(operations)})`}`;
}
