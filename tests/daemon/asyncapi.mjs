// node asyncapi.mjs FOLDER DOCUMENT: what @asyncapi/parser, installed in FOLDER, says, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , folder, file] = process.argv;
const { Parser } = createRequire(`${folder}/`)("@asyncapi/parser");
const { document, diagnostics } = await new Parser().parse(readFileSync(file, "utf8"));
const channels = document ? document.allChannels().all().map((each) => each.address()) : [];
const messages = document ? document.allMessages().all().map((each) => each.id()) : [];
process.stdout.write(JSON.stringify({ channels, messages, diagnostics }));
