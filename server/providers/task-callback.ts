import type { FileLinks } from '../media/file-links.ts';
import type { TaskRecord } from '../store/queries/tasks.ts';
import { renderImageJob } from './imgjob/render-image-job.ts';
import { renderOfficialTask } from './official/render-task.ts';
import { renderMusicTask } from './sigma/render-music.ts';

export function renderCallback(task: TaskRecord, links: FileLinks): object {
  switch (task.format) {
    case 'music':
      return renderMusicTask(task, links);
    case 'image':
      return renderImageJob(task, links);
    default:
      // The generic formats have no callback format. Only Seedance tasks have callbacks there.
      return renderOfficialTask(task, links);
  }
}
