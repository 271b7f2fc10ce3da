import type { AdminCommand } from './command.ts';
import { commands } from './commands.ts';

const everywhere = `everywhere:
      --base-url URL   default UNIGATE_BASE_URL, or http://127.0.0.1:8080
      --key KEY        an admin key; default UNIGATE_API_KEY
      --json           print JSON, as the contract describes it
  -q, --quiet          nothing on standard error but errors
  -h, --help           of all commands, of a group of them or of one
  -V, --version

Exit codes: 0 done, 1 refused or failed, 2 wrong command line, 130 and 143 stopped by a signal.
`;

/** The help of everything, of a group of commands or of one of them. */
export function helpText(program: string, about: string): string {
  const shown = Object.entries(commands).filter(
    ([name]) => about === '' || name === about || name.startsWith(`${about} `),
  );
  const called = shown.map(([name, { takes, does }]): [string, string] => [calledAs(name, takes), does]);
  const examples = shown.flatMap(([, command]) => command.examples.slice(0, about === '' ? 1 : undefined));
  const head = `${program} COMMAND runs a Unigate gateway, with an admin key.\n`;
  const options = shown
    .filter(([, command]) => Object.keys(command.options).length > 0)
    .map(([name, command]) => `${name}:\n${optionText(command)}`);
  const more = about === '' ? [`Options of a command: ${program} keys --help\n`] : options;
  const lines = examples.map((line) => `  ${program} ${line}\n`).join('');
  return [head, table(called), ...more, `Examples:\n${lines}`, everywhere].join('\n');
}

function calledAs(name: string, takes: string | undefined): string {
  return takes === undefined ? name : `${name} ${takes}`;
}

function optionText({ options }: AdminCommand): string {
  return table(
    Object.entries(options).map(([name, { takes, short, does, required }]) => {
      const both = `${short ? `-${short}, ` : '    '}--${name}`;
      return [takes === undefined ? both : `${both} ${takes}`, required ? `${does} (must be given)` : does];
    }),
  );
}

function table(rows: readonly [string, string][]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('');
}
