import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { docsFile, docsFiles } from './operations/service/docs-site.ts';

const usage = `npm run docs -- [--out FOLDER]

Writes the documentation as a static site for any web server, by default to .docs. A running gateway serves the same pages
at /docs.`;

const { values } = parseArgs({
  options: { out: { type: 'string', default: '.docs' }, help: { type: 'boolean', default: false } },
});

if (values.help) console.log(usage);
else {
  await mkdir(values.out, { recursive: true });
  const names = await docsFiles();
  for (const name of names) {
    const file = await docsFile(name, undefined);
    if (file !== undefined) await writeFile(join(values.out, name), file.body);
  }
  console.log(
    `${names.length} files in ${values.out}; open ${join(values.out, 'index.html')} on a web server`,
  );
}
