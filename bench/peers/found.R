# Writes tables of Debian's r-cran-mlbench and r-cran-modeldata as DIR/NAME.csv with a column "label": Rscript found.R DIR
library(mlbench)
library(modeldata)
to <- commandArgs(TRUE)[1]
dir.create(to, showWarnings = FALSE)
found <- function(name, table, label) {
    names(table)[names(table) == label] <- "label"
    table <- table[!is.na(table$label), c(setdiff(names(table), "label"), "label")]
    write.csv(table, file.path(to, paste0(name, ".csv")), row.names = FALSE, na = "")
}
set.seed(1)
data(Satellite, DNA, Vowel, Sonar, PimaIndiansDiabetes2, Ionosphere, Soybean, Shuttle, HouseVotes84)
data(attrition, cells, credit_data, mlc_churn, hpc_data)
found("satellite", Satellite, "classes")
found("dna", DNA, "Class")
found("vowel", Vowel, "Class")
found("sonar", Sonar, "Class")
found("pima", PimaIndiansDiabetes2, "diabetes")
found("ionosphere", Ionosphere, "Class")
found("soybean", Soybean, "Class")
found("shuttle", Shuttle[sample(nrow(Shuttle), 9000), ], "Class")
found("votes", HouseVotes84, "Class")
found("attrition", as.data.frame(attrition), "Attrition")
found("cells", as.data.frame(cells)[-1], "class")
found("credit", as.data.frame(credit_data), "Status")
found("mlc_churn", as.data.frame(mlc_churn), "churn")
found("hpc", as.data.frame(hpc_data), "class")
