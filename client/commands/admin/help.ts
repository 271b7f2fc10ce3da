import type { AdminCommand } from './command.ts';
import { commands } from './commands.ts';

const globalHelp = `all commands:
      --base-url URL   default UNIGATE_BASE_URL, or http://127.0.0.1:8080
      --key KEY        an admin key; default UNIGATE_API_KEY
      --json           print JSON as in the contract
  -q, --quiet          print only errors on standard error
  -h, --help           for all commands, a group or one command
  -V, --version

Exit codes: 0 success, 1 error, 2 invalid command line, 130 and 143 stopped by a signal.
`;

/** Returns the help for all commands, a group or one command. */
export function helpText(program: string, topic: string): string {
  const shown = Object.entries(commands).filter(
    ([name]) => topic === '' || name === topic || name.startsWith(`${topic} `),
  );
  const usages = shown.map(([name, { argument, description }]): [string, string] => [
    usageOf(name, argument),
    description,
  ]);
  const examples = shown.flatMap(([, command]) => command.examples.slice(0, topic === '' ? 1 : undefined));
  const head = `${program} COMMAND administers a Unigate gateway with an admin key.\n`;
  const options = shown
    .filter(([, command]) => Object.keys(command.options).length > 0)
    .map(([name, command]) => `${name}:\n${optionText(command)}`);
  const more = topic === '' ? [`Options of a group: ${program} keys --help\n`] : options;
  const lines = examples.map((line) => `  ${program} ${line}\n`).join('');
  return [head, table(usages), ...more, `Examples:\n${lines}`, globalHelp].join('\n');
}

function usageOf(name: string, argument: string | undefined): string {
  return argument === undefined ? name : `${name} ${argument}`;
}

function optionText({ options }: AdminCommand): string {
  return table(
    Object.entries(options).map(([name, { argument, short, description, required }]) => {
      const both = `${short ? `-${short}, ` : '    '}--${name}`;
      return [
        argument === undefined ? both : `${both} ${argument}`,
        required ? `${description} (required)` : description,
      ];
    }),
  );
}

function table(rows: readonly [string, string][]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('');
}
