// The page "Watch it learn".
import { lesson } from "./lesson.js";

lesson("learn");
