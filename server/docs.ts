import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isSiteBuilt, siteFileAt } from './operations/service/site-files.ts';

const usage = `npm run docs -- [--out FOLDER] [--base PATH]

Writes the documentation as a static site for any web server. A running gateway serves the same pages at /docs.

  --out   folder to write, default .docs
  --base  path of the folder on the web server, default /`;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: '.docs' },
    base: { type: 'string', default: '/' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(usage);
else if (await isSiteBuilt('docs')) await writeSite(values.out, values.base);
else {
  console.error('The documentation is not built; `npm run build` builds it.');
  process.exitCode = 1;
}

async function writeSite(out: string, base: string): Promise<void> {
  const site = new URL('../generated/site/', import.meta.url);
  const entries = await readdir(new URL('docs/', site), { recursive: true, withFileTypes: true });
  const built = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(site.pathname.length));
  const names = [...built, 'docs/openapi.json', 'docs/asyncapi.json'];
  const address = { origin: 'http://127.0.0.1:8080', home: `/${base}/`.replace(/\/+/g, '/') };
  for (const name of names) {
    const file = await siteFileAt(name, address, undefined);
    if (file === undefined) continue;
    // The page at the base address and the page for unknown addresses.
    const target = join(
      out,
      name.replace(/^docs\/(home|404)\.html$/, (_, page) => (page === 'home' ? 'index.html' : '404.html')),
    );
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, file.body);
  }
  console.log(`${names.length} files in ${out}; serve it at ${address.home} and open ${address.home}docs/`);
}
