import type { MediaLoader } from '../media-loader.ts';
import { TaskFailure } from '../task-board.ts';

const extensions = [
  'docx',
  'doc',
  'xlsx',
  'xls',
  'pptx',
  'ppt',
  'pdf',
  'txt',
  'key',
  'pages',
  'numbers',
  'md',
];
const largestFile = 100 * 1024 * 1024;
const mostPages = 50;

/** Fetches a document and checks its kind, size and, for a PDF, its pages. Throws a `TaskFailure`. */
export async function checkDocument(loader: MediaLoader, url: string): Promise<void> {
  const extension = /\.([a-z]+)$/i.exec(URL.parse(url)?.pathname ?? '')?.[1]?.toLowerCase() ?? '';
  if (!extensions.includes(extension))
    throw new TaskFailure('InvalidParameter.Format', `A file must be one of ${extensions.join(', ')}`);
  const bytes = await loader.fetch(url, largestFile);
  if (extension !== 'pdf') return;
  const text = Buffer.from(bytes).toString('latin1');
  if (!text.startsWith('%PDF-')) throw new TaskFailure('InvalidParameter.Format', 'The file is no PDF');
  // Pages inside compressed streams are not seen; the check is as good as the plain ones.
  const pages = text.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  if (pages > mostPages)
    throw new TaskFailure(
      'InvalidParameter.Pages',
      `The file has ${pages} pages; at most ${mostPages} are allowed`,
    );
}
